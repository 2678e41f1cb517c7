import { Readable } from 'node:stream';
import { encodeControl, encodeData } from '@inquest/frame-protocol';
import { CapturedOutput } from '../testing/captured-output';
import { followExec } from './exec-stream';

const EXIT = { code: 3, signal: null, timedOut: false, stdoutBytes: 3, stderrBytes: 4, durationMs: 5 };

describe('followExec', () => {
  const follow = async (chunks: Iterable<Uint8Array>, signal = new AbortController().signal) => {
    const sinks = { stdout: new CapturedOutput(), stderr: new CapturedOutput() };
    const exit = await followExec(Readable.from(chunks, { objectMode: false }), sinks, signal);
    return { exit, stdout: sinks.stdout.text, stderr: sinks.stderr.text };
  };
  const frames = (...parts: Uint8Array[]): Buffer => Buffer.concat(parts);
  const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
  const whole = frames(
    encodeData('stdout', utf8('out')),
    encodeData('stderr', utf8('err\n')),
    encodeControl({ type: 'exit', ...EXIT }),
  );

  it('copies each output to its sink and gives the exit', async () => {
    expect(await follow([whole])).toEqual({ exit: EXIT, stdout: 'out', stderr: 'err\n' });
  });

  it('does so wherever the transport cuts the stream', async () => {
    expect(await follow([...whole].map((byte) => Uint8Array.of(byte)))).toEqual({
      exit: EXIT,
      stdout: 'out',
      stderr: 'err\n',
    });
  });

  it('gives no exit when the stream ends before it, and keeps the output until then', async () => {
    expect(await follow([encodeData('stdout', utf8('out'))])).toEqual({ exit: null, stdout: 'out', stderr: '' });
  });

  it('gives no exit when the transport breaks', async () => {
    const broken = function* (): Generator<Uint8Array> {
      yield encodeData('stdout', utf8('out'));
      throw new Error('read ECONNRESET');
    };
    expect(await follow(broken())).toEqual({ exit: null, stdout: 'out', stderr: '' });
  });

  it('throws what the guest reported when the command could not be run', async () => {
    const error = encodeControl({ type: 'error', code: 'EXEC_CWD_MISSING', message: 'no such directory' });
    await expect(follow([error])).rejects.toMatchObject({ code: 'EXEC_CWD_MISSING' });
  });

  it('throws the reason of an interruption instead of calling it a lost transport', async () => {
    const interruption = new AbortController();
    const interrupted = function* (): Generator<Uint8Array> {
      yield encodeData('stdout', utf8('out'));
      interruption.abort(new Error('interrupted'));
      throw new Error('aborted');
    };
    await expect(follow(interrupted(), interruption.signal)).rejects.toThrow('interrupted');
  });
});
