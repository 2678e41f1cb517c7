import { createRedactor } from './redactor';
import { redactTokenShapes } from './token-shapes';

const body = (length: number): string => 'aB3'.repeat(length).slice(0, length);

describe('redactTokenShapes', () => {
  it.each([
    ['GitHub token', `ghp_${body(36)}`],
    ['GitHub token', `github_pat_${body(60)}`],
    ['GitLab token', `glpat-${body(20)}`],
    ['model API key', `sk-ant-api03-${body(40)}`],
    ['model API key', `sk-proj-${body(40)}`],
    ['AWS access key', `AKIA${'ABCD2345'.repeat(2)}`],
    ['Google API key', `AIza${body(35)}`],
    ['Slack token', `xoxb-${body(24)}`],
    ['npm token', `npm_${body(36)}`],
    ['JWT', `eyJ${body(20)}.eyJ${body(20)}.${body(30)}`],
  ])('recognises a %s', (name, token) => {
    expect(redactTokenShapes(`export KEY="${token}" # end`)).toBe(`export KEY="[redacted ${name}]" # end`);
  });

  it('recognises a password in a URL and an authorization header', () => {
    expect(redactTokenShapes('https://bob:hunter22@git.example.org/x')).toBe(
      'https://bob:[redacted password]@git.example.org/x',
    );
    expect(redactTokenShapes('authorization: bearer abcdef0123456789')).toBe(
      'authorization: bearer [redacted credential]',
    );
  });

  it('takes out a private key, and the rest of the text when the key has no end', () => {
    const key = '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----';
    expect(redactTokenShapes(`a ${key} b ${key} c`)).toBe('a [redacted private key] b [redacted private key] c');
    expect(redactTokenShapes('a -----BEGIN PRIVATE KEY-----\nMIIE')).toBe('a [redacted private key]');
  });

  it.each([
    'task-sk-1',
    'version 1.2.3',
    'git log --oneline',
    'module.exports.handler',
    'Basic English text',
    'http://host:80/a@b',
  ])('leaves ordinary text alone: %s', (text) => expect(redactTokenShapes(text)).toBe(text));

  it.each(['eyJ', '-----BEGIN PRIVATE KEY', 'sk-', '://a:', 'a.', 'Bearer '])(
    'scans a long run of %j in linear time',
    (unit) => {
      const startMs = performance.now();
      redactTokenShapes(unit.repeat((256 * 1024) / unit.length));
      expect(performance.now() - startMs).toBeLessThan(3000);
    },
  );
});

describe('createRedactor', () => {
  it('names the secrets that are too short to be looked for', () => {
    const { redact, tooShort } = createRedactor([
      { name: 'FLAG', value: '1' },
      { name: 'TOKEN', value: 'abcdef' },
    ]);
    expect(tooShort).toEqual(['FLAG']);
    expect(redact('1 abcdef')).toBe('1 [redacted TOKEN]');
  });

  it('replaces a secret that contains another as a whole', () => {
    const { redact } = createRedactor([
      { name: 'A', value: 'abcdef' },
      { name: 'B', value: 'abcdef-ghi' },
    ]);
    expect(redact('abcdef-ghi abcdef')).toBe('[redacted B] [redacted A]');
  });

  it('takes a secret literally, even when it looks like a pattern', () => {
    expect(createRedactor([{ name: 'A', value: '$&.*[x]$1' }]).redact('($&.*[x]$1)')).toBe('([redacted A])');
  });
});
