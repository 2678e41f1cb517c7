import fc from 'fast-check';
import { runInSerialShell } from './serial-dialogue';
import { ShellDouble, type PlayedCommand, type ShellDoubleOptions } from './testing';

const MACHINE = 'mch-n1-2345678923';
const LIMITS = { timeoutMs: 30_000, maxOutputBytes: 4096 };

const ends =
  (output: string | Uint8Array, status: string | null = '0') =>
  (): PlayedCommand => ({
    output: Buffer.from(output),
    status,
  });

async function run(
  options: ShellDoubleOptions,
  { command = 'true', limits = LIMITS, signal = new AbortController().signal } = {},
) {
  const shell = new ShellDouble(options);
  const result = runInSerialShell(shell, MACHINE, { command, ...limits }, signal);
  return { shell, result };
}

const textOf = ({ output: { head, tail } }: Awaited<ReturnType<typeof runInSerialShell>>): string =>
  Buffer.concat([head, tail]).toString();

describe('a command by the serial port', () => {
  it('arrives as it was given, and gives its output and its exit status without echo and prompt', async () => {
    const command = `echo "it's\t!";\nexit 3 # ${'é'.repeat(300)}`;
    const { shell, result } = await run({ play: ends('one\r\ntwo\r\n', '3') }, { command });
    const ended = await result;
    expect({ exitCode: ended.exitCode, text: textOf(ended) }).toEqual({ exitCode: 3, text: 'one\ntwo\n' });
    expect(shell.commands).toEqual([command]);
  });

  it('has an output without a line end as it is, and without control sequences', async () => {
    const { result } = await run({ play: ends('\x1b]0;title\x07\x1b[32mgreen\x1b[0m') });
    expect(textOf(await result)).toBe('green');
  });

  it('has its status also behind a control sequence that never ends', async () => {
    const { result } = await run({ play: ends('text\x1b]0;', '4') });
    await expect(result).resolves.toMatchObject({ exitCode: 4 });
  });

  it('is not ended by what an output makes of the echo or of an earlier marker', async () => {
    const shell: ShellDouble = new ShellDouble({
      play: () => {
        // All that it has seen so far, and the halves of all markers put together.
        const halves = [...shell.written.matchAll(/([0-9a-f]{20}) ([0-9a-f]{20}) /g)];
        const earlier = halves.slice(0, -1).map(([, first, second]) => `\n${first}${second}:9\n`);
        return { output: Buffer.from(`${shell.written}${earlier.join('')}end`), status: '0' };
      },
    });
    const ended = await runInSerialShell(
      shell,
      MACHINE,
      { command: 'forge', ...LIMITS, maxOutputBytes: 65_536 },
      soon(),
    );
    expect(ended.exitCode).toBe(0);
    expect(textOf(ended)).toMatch(/:9\nend$/);
  });

  it('never sends a marker in one piece', async () => {
    const typed: string[] = [];
    const shell = new ShellDouble();
    const write = jest.spyOn(shell, 'write');
    await runInSerialShell(shell, MACHINE, { command: 'true', ...LIMITS }, soon());
    for (const [chunk] of write.mock.calls) typed.push(String(chunk));
    const markers = [...shell.written.matchAll(/\n([0-9a-z]{20,}):/g)].map(([, marker]) => marker ?? '');
    expect(new Set(markers).size).toBeGreaterThanOrEqual(4);
    for (const marker of markers) expect(typed.join('')).not.toContain(marker);
  });

  it('keeps head and tail of an output that is too long, and counts it all', async () => {
    const output = `head${'x'.repeat(100_000)}tail`;
    const { result } = await run({ play: ends(output) }, { limits: { ...LIMITS, maxOutputBytes: 1024 } });
    const { output: kept } = await result;
    expect(kept).toMatchObject({ totalBytes: output.length, isTruncated: true });
    expect(kept.head.length + kept.tail.length).toBe(1024);
    expect(Buffer.from(kept.head).toString()).toMatch(/^head/);
    expect(Buffer.from(kept.tail).toString()).toMatch(/tail$/);
  });

  it('is run once when the shell needs to be greeted twice', async () => {
    const { shell, result } = await run({ deafGreetings: 1 });
    await result;
    expect(shell.commands).toHaveLength(1);
  });

  it.each([
    ['lost characters of it, which is then not run', { lostChars: 1 }, /which was not run/],
    ['tells a status that is none', { play: ends('', 'x') }, /without its status/],
    ['tells a status that no process has', { play: ends('', '256') }, /exit status of 256/],
    ['tells a status that does not end', { play: ends('', '1'.repeat(100)) }, /without its status/],
  ])('fails when the guest %s', async (_, options, message) => {
    const { shell, result } = await run(options);
    await expect(result).rejects.toMatchObject({ code: 'VM_SERIAL_GARBLED', message: expect.stringMatching(message) });
    expect(shell.commands).toHaveLength('lostChars' in options ? 0 : 1);
  });

  it('fails with what was last seen, bounded, when no shell answers', async () => {
    const { shell, result } = await run({ deafGreetings: 99 }, { limits: { ...LIMITS, timeoutMs: 50 } });
    shell.say(`${'x'.repeat(10_000)}\r\nlogin: `);
    const error = await result.catch((e: unknown) => e as Error & { code: string });
    expect(error).toMatchObject({ code: 'VM_SERIAL_SILENT', message: expect.stringContaining('login: ') });
    expect((error as Error).message.length).toBeLessThan(1000);
    expect(shell.commands).toEqual([]);
  });

  it('is interrupted when its time is over, and when nobody waits for it any more', async () => {
    const late = await run({ play: ends('working', null) }, { limits: { ...LIMITS, timeoutMs: 200 } });
    await expect(late.result).rejects.toMatchObject({ code: 'VM_SERIAL_TIMEOUT' });
    expect(late.shell.interrupts).toBe(2);
    const caller = new AbortController();
    const play = (): PlayedCommand => {
      caller.abort();
      return { output: Buffer.from(''), status: null };
    };
    const given = await run({ play }, { signal: caller.signal });
    await expect(given.result).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    expect(given.shell.interrupts).toBe(2);
  });

  it('fails at once when the port closes', async () => {
    const shell: ShellDouble = new ShellDouble({
      play: () => {
        shell.destroy();
        return { output: new Uint8Array(), status: null };
      },
    });
    const result = runInSerialShell(shell, MACHINE, { command: 'halt', ...LIMITS }, soon());
    await expect(result).rejects.toMatchObject({ code: 'VM_SERIAL_GARBLED' });
  });

  it('gives any output and status, however what comes is split', async () => {
    const line = fc.string({ unit: 'binary-ascii', maxLength: 40 }).map((text) => text.replace(/[\x1b\r]/g, ''));
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 8 }),
        fc.integer({ min: 0, max: 255 }),
        fc.integer({ min: 1, max: 50 }),
        async (lines, status, pieceBytes) => {
          const { result } = await run({ play: ends(lines.join('\r\n'), String(status)), pieceBytes });
          const ended = await result;
          expect({ exitCode: ended.exitCode, text: textOf(ended) }).toEqual({
            exitCode: status,
            text: lines.join('\n'),
          });
        },
      ),
      { numRuns: 50 },
    );
  });
});

const soon = (): AbortSignal => AbortSignal.timeout(30_000);
