import { describeCall, digestOfCall } from './call-arguments';

describe('digestOfCall', () => {
  const digest = digestOfCall('run', { command: 'ls', cwd: null });

  it('is the same for the same call, whatever the order of its arguments', () => {
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(digestOfCall('run', { cwd: null, command: 'ls' })).toBe(digest);
  });

  it.each([
    ['another verb', digestOfCall('plan', { command: 'ls', cwd: null })],
    ['another value', digestOfCall('run', { command: 'ls ', cwd: null })],
    ['another argument', digestOfCall('run', { command: 'ls', mode: null })],
    ['a list in another order', digestOfCall('run', { command: ['a', 'b'] })],
  ])('differs for %s', (_, other) => {
    expect(other).not.toBe(digest);
    expect(other).not.toBe(digestOfCall('run', { command: ['b', 'a'] }));
  });
});

describe('describeCall', () => {
  it('gives one argument a line, texts first, without those that were left out', () => {
    expect(describeCall({ timeoutMs: 5, command: 'ls', cwd: null, forceInclude: ['a'] })).toBe(
      'command: ls\ntimeoutMs: 5\nforceInclude: ["a"]',
    );
  });

  it('lets no text of several lines pass for another argument', () => {
    expect(describeCall({ command: 'ls\ncwd: /safe\r\nx' })).toBe('command:\n  ls\n  cwd: /safe\n  x');
  });
});
