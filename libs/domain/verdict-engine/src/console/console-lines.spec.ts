import { MAX_LINE_CHARS, readConsole } from './console-lines';

const latin1 = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0));
const texts = (log: string): readonly string[] => readConsole(latin1(log)).lines.map((line) => line.text);

describe('readConsole', () => {
  it('takes off timestamps, callers, levels and syslog prefixes', () => {
    expect(
      texts('[    1.000001] one\n[    2.000000][   T12] two\n<6>three\nJan  2 03:04:05 host kernel: four\n'),
    ).toEqual(['one', 'two', 'three', 'four']);
  });

  it('begins a message at a timestamp in the middle of a line', () => {
    expect(texts('host: [   12.000000] reboot: Power down\r\n')).toEqual(['host:', 'reboot: Power down']);
  });

  it('begins a message behind the prompt of getty', () => {
    expect(texts('host login: [   12.000000] reboot: Power down\r\n')).toEqual(['reboot: Power down']);
    expect(texts('host login: Internal error: Oops: 5 [#1] SMP ARM\n')).toEqual([
      'Internal error: Oops: 5 [#1] SMP ARM',
    ]);
  });

  it("takes a message for a program's when its priority is not of the kernel's facility", () => {
    const stamped = (log: string): readonly boolean[] => readConsole(latin1(log)).lines.map((line) => line.stamped);
    expect(stamped('<6>[    1.000000] a\n<30>[    2.000000] b\n')).toEqual([true, false]);
    expect(stamped('6,1,1000000,-;a\n12,2,2000000,-;b\n')).toEqual([true, false]);
  });

  it('drops escape sequences and control characters', () => {
    expect(texts('\x1b[1;32m[  OK  ]\x1b[0m a\rb\x07\x1b]0;title\x1b\\c\x1b(B\n')).toEqual(['[  OK  ] abc']);
  });

  it('loses no more than its own line to a sequence that never ends', () => {
    expect(texts('\x1b]0;never\nnext\n')).toEqual(['next']);
  });

  it('says where each message stands', () => {
    const log = 'login: [    1.000000] a\x1b[0mb\r\nnext';
    const [, second, third] = readConsole(latin1(log)).lines;
    expect(log.slice(second?.offset, (second?.offset ?? 0) + (second?.length ?? 0))).toBe('[    1.000000] a\x1b[0mb');
    expect(third).toMatchObject({ text: 'next', offset: log.indexOf('next'), length: 4, terminated: false });
    expect(second?.terminated).toBe(true);
  });

  it('takes text without a stamp for the kernel only when nothing is stamped', () => {
    expect(readConsole(latin1('a\nb\n')).kernelLines).toHaveLength(2);
    expect(readConsole(latin1('a\n[    1.000000] b\n')).kernelLines.map((line) => line.text)).toEqual(['b']);
  });

  it('tears no timestamp when it cuts a line that is too long', () => {
    for (let pad = MAX_LINE_CHARS - 20; pad <= MAX_LINE_CHARS + 2; pad++) {
      expect(texts(`${'x'.repeat(pad)}[   12.000000] found\n`).at(-1)).toBe('found');
    }
  });
});
