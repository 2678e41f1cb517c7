import { proxyProbe } from './proxy-probe';

describe('the probe of a proxy', () => {
  const { command, describe: tell } = proxyProbe('allowed.example');

  it('asks for the host by name, with a program that the guest has', () => {
    expect(command).toContain('CONNECT allowed.example:443 HTTP/1.1\\r\\n');
    expect(command).toMatch(/^if command -v nc .*\nelif command -v bash .*\nelse /s);
  });

  it.each([
    ['HTTP/1.1 200 Connection established\r\n\r\n', 'Tried allowed.example now: it can be reached.'],
    ['', "Tried allowed.example now: nothing answered in this machine's end of the proxy."],
    ['no program\n', 'Whether allowed.example answers was not tried: the image has neither nc nor bash.'],
    [
      'HTTP/1.1 502 Bad Gateway\r\nContent-Length: 9\r\n\r\n{"detail":"allowed.example cannot be resolved (ENOTFOUND)"}\n',
      'Tried allowed.example now: the proxy answered "HTTP/1.1 502 Bad Gateway", because allowed.example cannot be resolved (ENOTFOUND).',
    ],
    ['HTTP/1.1 403 Forbidden\r\n\r\n', 'Tried allowed.example now: the proxy answered "HTTP/1.1 403 Forbidden".'],
  ])('says what %j means', (output, text) => {
    expect(tell(output)).toBe(text);
  });
});
