import { appendFile, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CleanupStack } from '@inquest/kernel';
import { eventually, tempDir } from '@inquest/testing';
import { BoundedLog, type BoundedLogOptions } from '@inquest/vm-driver';
import { followConsole } from './console-file';

const MIB = 1024 * 1024;
/** Unit of `blocks`, stat(2). */
const BLOCK_BYTES = 512;

describe('followConsole', () => {
  let cleanup: CleanupStack;
  let directory: string;
  let log: BoundedLog;
  let closing: AbortController;
  const consolePath = (): string => path.join(directory, 'console.log');
  const options = (): BoundedLogOptions => ({
    headPath: path.join(directory, 'head'),
    tailPath: path.join(directory, 'tail'),
    headBytes: MIB,
    tailBytes: 64 * 1024,
  });

  beforeEach(async () => {
    cleanup = new CleanupStack();
    const temporary = await tempDir('console');
    cleanup.defer('directory', () => temporary.remove());
    directory = temporary.path;
    await writeFile(consolePath(), '');
    log = await BoundedLog.create(options());
    cleanup.defer('log', () => log.close());
    closing = new AbortController();
    cleanup.defer('follower', () => closing.abort());
  });
  afterEach(() => cleanup.run());

  it('keeps every byte in order, however small the pieces, and all that is there when it closes', async () => {
    const console = await followConsole(consolePath(), log, closing.signal);
    const expected = Array.from({ length: 1000 }, (_, at) => `${at}\n`);
    for (const line of expected) await appendFile(consolePath(), line);
    closing.abort();
    await console.ended;
    await expect(readFile(options().headPath, 'utf8')).resolves.toBe(expected.join(''));
  });

  it('follows a console that stands still for a while', async () => {
    await followConsole(consolePath(), log, closing.signal);
    for (const part of ['boot', ' login', ' poweroff']) {
      await appendFile(consolePath(), part);
      const { size } = await stat(consolePath());
      await eventually(() => log.totalBytes === size);
    }
    expect(Buffer.from(log.recent(100)).toString()).toBe('boot login poweroff');
  });

  it('takes many small writes in few pieces', async () => {
    const appended = jest.spyOn(log, 'append');
    const console = await followConsole(consolePath(), log, closing.signal);
    for (let at = 0; at < 2000; at++) await appendFile(consolePath(), 'x');
    closing.abort();
    await console.ended;
    expect(log.totalBytes).toBe(2000);
    expect(appended.mock.calls.length).toBeLessThan(1000);
  });

  it('goes on where the log of an earlier process stopped', async () => {
    await appendFile(consolePath(), 'seen unseen');
    await log.append(Buffer.from('seen '));
    const { size } = await stat(consolePath());
    const resumed = await BoundedLog.resume(options(), size);
    const console = await followConsole(consolePath(), resumed, closing.signal);
    await appendFile(consolePath(), ' new');
    closing.abort();
    await console.ended;
    await resumed.close();
    await expect(readFile(options().headPath, 'utf8')).resolves.toBe('seen unseen new');
  });

  it('gives the disk space of a flood back, and keeps its head and its end', async () => {
    const console = await followConsole(consolePath(), log, closing.signal);
    const piece = Buffer.alloc(MIB, 'flooding');
    for (let written = 0; written < 40; written++) {
      await appendFile(consolePath(), piece);
      await eventually(() => log.totalBytes === (written + 1) * MIB, { timeoutMs: 30_000 });
    }
    await eventually(async () => (await stat(consolePath())).blocks * BLOCK_BYTES < 30 * MIB);
    expect((await stat(consolePath())).size).toBe(40 * MIB);
    await appendFile(consolePath(), ' the end');
    closing.abort();
    await console.ended;
    await log.close();
    expect((await readFile(options().headPath)).equals(piece)).toBe(true);
    expect((await readFile(options().tailPath, 'utf8')).endsWith('flooding the end')).toBe(true);
    expect(log.totalBytes).toBe(40 * MIB + 8);
  });

  it('settles when it is stopped', async () => {
    const console = await followConsole(consolePath(), log, closing.signal);
    await console.stop();
    await console.ended;
  });

  it('rejects when there is no such file', async () => {
    const missing = path.join(directory, 'missing.log');
    await expect(followConsole(missing, log, closing.signal)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
