import { isAddressLiteral, parseHostName } from './host-name';

describe('a host name', () => {
  it.each([
    ['example.org', 'example.org'],
    ['EXAMPLE.Org', 'example.org'],
    ['a_b.example.org', 'a_b.example.org'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['localhost', 'localhost'],
    ['1password.com', '1password.com'],
    ['7.example', '7.example'],
  ])('is read from %j and compared in lower case', (text, name) => {
    expect(parseHostName(text)).toBe(name);
  });

  it.each([
    '',
    '.',
    'example.org.',
    '.example.org',
    'a..b',
    '-a.example',
    'a-.example',
    'a b.example',
    'user@example.org',
    'example.org/path',
    'bücher.example',
    '127。0。0。1',
    'example.org\0',
    'a%2eb.example',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(127)}example`,
  ])('is not %j', (text) => {
    expect(parseHostName(text)).toBeNull();
  });

  it.each([
    '127.0.0.1',
    '127.1',
    '127.0.0.01',
    '0177.0.0.1',
    '0x7f.0.0.1',
    '0x7f000001',
    '2130706433',
    '0',
    '1.2.3.4.',
    'example.0x',
    'example.1',
    '::1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    'fe80::1%eth0',
    '0X7F.1',
  ])('is not the address %j, in whatever notation', (text) => {
    expect(isAddressLiteral(text)).toBe(true);
    expect(parseHostName(text)).toBeNull();
  });
});
