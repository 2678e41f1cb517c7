import { AllowList } from './allow-list';
import { checkAddresses, checkServerName, checkTarget, parseTarget, type EgressTarget } from './egress-rules';

const allowList = AllowList.parse(['example.org', '*.packages.example']);

describe('the rule about a target', () => {
  const check = (authority: string): EgressTarget => {
    const target = parseTarget(authority);
    checkTarget(target, allowList);
    return target;
  };

  it.each([
    ['example.org:443', 'example.org'],
    ['EXAMPLE.ORG:443', 'example.org'],
    ['a.packages.example:443', 'a.packages.example'],
  ])('lets %s pass', (authority, host) => {
    expect(check(authority)).toEqual({ host, port: 443 });
  });

  it.each([
    ['other.example:443', 'EGRESS_HOST_DENIED'],
    ['packages.example:443', 'EGRESS_HOST_DENIED'],
    ['localhost:443', 'EGRESS_HOST_DENIED'],
    ['example.org:80', 'EGRESS_PORT_REFUSED'],
    ['example.org:8443', 'EGRESS_PORT_REFUSED'],
    ['example.org:99999', 'EGRESS_PORT_REFUSED'],
    ['localhost:3128', 'EGRESS_PORT_REFUSED'],
    ['127.0.0.1:3128', 'EGRESS_ADDRESS_LITERAL'],
    ['93.184.215.14:443', 'EGRESS_ADDRESS_LITERAL'],
    ['2130706433:443', 'EGRESS_ADDRESS_LITERAL'],
    ['0x7f.1:443', 'EGRESS_ADDRESS_LITERAL'],
    ['[::1]:443', 'EGRESS_ADDRESS_LITERAL'],
    ['[::ffff:7f00:1]:443', 'EGRESS_ADDRESS_LITERAL'],
    ['::1:443', 'EGRESS_ADDRESS_LITERAL'],
    ['example.org', 'EGRESS_REQUEST_INVALID'],
    ['example.org:', 'EGRESS_REQUEST_INVALID'],
    ['example.org:443:443', 'EGRESS_ADDRESS_LITERAL'],
    ['user@example.org:443', 'EGRESS_REQUEST_INVALID'],
    ['example.org.:443', 'EGRESS_REQUEST_INVALID'],
    ['https://example.org:443', 'EGRESS_ADDRESS_LITERAL'],
    [':443', 'EGRESS_REQUEST_INVALID'],
    ['', 'EGRESS_REQUEST_INVALID'],
  ])('refuses %j: %s', (authority, code) => {
    expect(() => check(authority)).toThrow(expect.objectContaining({ code, status: 403, fault: 'guest' }));
  });

  it('says what is allowed when a host is not', () => {
    const other = { host: 'other.example', port: 443 };
    expect(() => checkTarget(other, allowList)).toThrow('example.org, *.packages.example');
    expect(() => checkTarget(other, AllowList.parse([]))).toThrow('no allow-list');
  });
});

describe('the rule about addresses', () => {
  it('lets public addresses pass', () => {
    expect(() => checkAddresses('example.org', ['93.184.215.14', '2606:4700::1'])).not.toThrow();
  });

  it('refuses a name that has no address', () => {
    expect(() => checkAddresses('example.org', [])).toThrow(
      expect.objectContaining({ code: 'EGRESS_NAME_UNRESOLVED', fault: 'infra' }),
    );
  });

  it('refuses a name with one address that is not public, whatever its others are, and does not tell the address', () => {
    expect(() => checkAddresses('example.org', ['93.184.215.14', '10.0.0.7'])).toThrow(
      expect.objectContaining({ code: 'EGRESS_ADDRESS_PRIVATE', message: expect.not.stringContaining('10.0.0.7') }),
    );
  });
});

describe('the rule about the server name', () => {
  it('lets the host of the tunnel pass', () => {
    expect(() => checkServerName({ serverName: 'example.org' }, 'example.org')).not.toThrow();
  });

  it('refuses another host, also one that is on the allow-list', () => {
    expect(() => checkServerName({ serverName: 'a.packages.example' }, 'example.org')).toThrow(
      expect.objectContaining({ code: 'EGRESS_SNI_DIFFERENT' }),
    );
  });

  it('refuses a hello that names none', () => {
    expect(() => checkServerName({ serverName: null }, 'example.org')).toThrow(
      expect.objectContaining({ code: 'EGRESS_SNI_MISSING' }),
    );
  });
});
