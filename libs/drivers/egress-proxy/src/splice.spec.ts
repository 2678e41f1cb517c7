import { PassThrough } from 'node:stream';
import { splice } from './splice';
import { createGuest } from './testing';
import { readBytes, whenClosed } from './testing/proxy-scene';

const LONG = { idleMs: 60_000, totalMs: 60_000 };

describe('splice', () => {
  it('counts what passed when one side breaks off, and closes the other', async () => {
    const remote = new PassThrough();
    let ended: ReturnType<typeof splice> | null = null;
    const guest = await createGuest(1, (stream) => {
      ended = splice(stream, remote, { ...LONG, signal: AbortSignal.timeout(30_000) });
    });
    const stream = await guest.connect();
    stream.write('hello');
    expect((await readBytes(stream, 5)).toString()).toBe('hello');
    remote.destroy(new Error('the wire is cut'));
    await whenClosed(stream);
    await expect(ended).resolves.toMatchObject({ how: expect.stringContaining('broke off'), bytesUp: 5, bytesDown: 5 });
    await guest.close();
  });

  it('ends at once when it is told so before it begins', async () => {
    const [guest, remote] = [new PassThrough(), new PassThrough()];
    await expect(splice(guest, remote, { ...LONG, signal: AbortSignal.abort() })).resolves.toEqual({
      how: 'the way out was closed',
      bytesUp: 0,
      bytesDown: 0,
    });
    expect([guest.destroyed, remote.destroyed]).toEqual([true, true]);
  });

  describe('after one direction has ended', () => {
    beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
    afterEach(() => jest.useRealTimers());

    it('waits for the other no longer than a minute of silence', async () => {
      const remote = new PassThrough({ allowHalfOpen: true });
      let ended: ReturnType<typeof splice> | null = null;
      const guest = await createGuest(1, (stream) => {
        stream.once('end', () => setImmediate(() => jest.advanceTimersByTime(60_000)));
        // A remote that takes everything and never says that it is done.
        remote._flush = () => undefined;
        ended = splice(stream, remote, { idleMs: 600_000, totalMs: 3_600_000, signal: new AbortController().signal });
      });
      const stream = await guest.connect();
      stream.end('all');
      stream.resume();
      await whenClosed(stream);
      await expect(ended).resolves.toMatchObject({ how: 'nothing moved for 60000 ms', bytesUp: 3 });
      await guest.close();
    });
  });
});
