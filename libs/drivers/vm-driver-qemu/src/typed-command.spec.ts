import fc from 'fast-check';
import { typedCommand } from './typed-command';

/** What the shell has in its variable after the lines. */
const variableOf = (command: string): string =>
  typedCommand(command)
    .lines.map(({ line }) => /'(.*)'$/.exec(line)?.[1] ?? '')
    .join('');

const decoded = (typed: string): string =>
  Buffer.from(
    typed.replace(/\\0([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8))),
    'latin1',
  ).toString('utf8');

describe('typedCommand', () => {
  it('types plain characters as they are, and no character that a terminal or a shell would act on', () => {
    expect(variableOf('ls -l /tmp | wc')).toBe('ls -l /tmp | wc');
    expect(variableOf("a'b\\\t!\n\x03")).toBe('a\\0047b\\0134\\0011\\0041\\0012\\0003');
  });

  it('begins anew with each command, and says how long the variable is after each line', () => {
    const { lines } = typedCommand('x'.repeat(900));
    expect(lines.map(({ totalChars }) => totalChars)).toEqual([400, 800, 900]);
    expect(lines.map(({ line }) => line.startsWith('inquest_command=$inquest_command'))).toEqual([false, true, true]);
  });

  it('leaves any command in the variable, in short lines of printable characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 500 }), (command) => {
        expect(decoded(variableOf(command))).toBe(Buffer.from(command).toString('utf8'));
        for (const { line } of typedCommand(command).lines) expect(line).toMatch(/^[ -~]{1,440}$/);
      }),
    );
  });
});
