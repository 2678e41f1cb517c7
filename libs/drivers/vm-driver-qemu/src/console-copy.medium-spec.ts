import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import path from 'node:path';
import { CleanupStack } from '@inquest/kernel';
import { tempDir } from '@inquest/testing';
import { BoundedLog } from '@inquest/vm-driver';
import { copyConsole } from './console-copy';

const never = new AbortController().signal;

describe('copyConsole', () => {
  let cleanup: CleanupStack;
  let directory: string;
  let served: Promise<Socket>;
  let log: BoundedLog;
  const socketPath = (): string => path.join(directory, 'console.sock');
  const logPath = (): string => path.join(directory, 'head');

  beforeEach(async () => {
    cleanup = new CleanupStack();
    const temporary = await tempDir('console');
    cleanup.defer('directory', () => temporary.remove());
    directory = temporary.path;
    // Who does not read never sees the end of a connection.
    const server = createServer((socket) => void socket.resume());
    cleanup.defer('server', () => void server.close());
    served = once(server, 'connection').then(([socket]) => socket as Socket);
    server.listen(socketPath());
    await once(server, 'listening');
    log = await BoundedLog.create({
      headPath: logPath(),
      tailPath: path.join(directory, 'tail'),
      headBytes: 1024 * 1024,
      tailBytes: 1024,
    });
    cleanup.defer('log', () => log.close());
  });
  afterEach(() => cleanup.run());

  it('keeps every byte in order, however small the pieces', async () => {
    const copy = await copyConsole(socketPath(), log, { signal: never, closing: never });
    const guest = await served;
    const expected = Array.from({ length: 3000 }, (_, at) => `${at}\n`);
    for (const line of expected) guest.write(line);
    guest.end();
    await copy.ended;
    await expect(readFile(logPath(), 'utf8')).resolves.toBe(expected.join(''));
  });

  it('takes many small writes in few pieces', async () => {
    const appended = jest.spyOn(log, 'append');
    const copy = await copyConsole(socketPath(), log, { signal: never, closing: never });
    const guest = await served;
    for (let at = 0; at < 2000; at++) if (!guest.write('x')) await once(guest, 'drain');
    guest.end();
    await copy.ended;
    expect(log.totalBytes).toBe(2000);
    expect(appended.mock.calls.length).toBeLessThan(200);
  });

  it('slows a guest that writes faster than the disk, and loses nothing', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const append = log.append.bind(log);
    jest.spyOn(log, 'append').mockImplementationOnce(async (chunk) => {
      await held;
      await append(chunk);
    });
    const copy = await copyConsole(socketPath(), log, { signal: never, closing: never });
    const guest = await served;
    const flood = Buffer.alloc(900_000, 'flood ');
    const isTaken = guest.write(flood);
    expect(isTaken).toBe(false);
    expect(guest.writableLength).toBeGreaterThan(0);
    release();
    guest.end();
    await copy.ended;
    expect((await readFile(logPath())).equals(flood)).toBe(true);
  });

  it('settles when it is stopped', async () => {
    const copy = await copyConsole(socketPath(), log, { signal: never, closing: never });
    copy.stop();
    await copy.ended;
  });

  it('rejects when nobody serves the console, or when it is cancelled', async () => {
    const missing = path.join(directory, 'missing.sock');
    await expect(copyConsole(missing, log, { signal: never, closing: never })).rejects.toMatchObject({
      code: 'ENOENT',
    });
    const cancelled = copyConsole(socketPath(), log, { signal: AbortSignal.abort(), closing: never });
    await expect(cancelled).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
  });
});
