import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { tempDir, type TempDir } from '@inquest/testing';
import { EventLog } from './event-log';

describe('EventLog', () => {
  let directory: TempDir;
  let file: string;
  beforeEach(async () => {
    directory = await tempDir('event-log');
    file = path.join(directory.path, 'events.jsonl');
  });
  afterEach(() => directory.remove());

  it('has every line in order on disk once it is closed', async () => {
    const log = await EventLog.create(file, { headBytes: 1000, tailLines: 10 });
    log.append('{"event":"RESUME"}');
    log.append('{"event":"SHUTDOWN"}');
    await log.close();
    await expect(readFile(file, 'utf8')).resolves.toBe('{"event":"RESUME"}\n{"event":"SHUTDOWN"}\n');
    expect(log.lost).toBe(false);
  });

  it('keeps the first and the last lines of a flood and says that some are missing', async () => {
    const log = await EventLog.create(file, { headBytes: 9, tailLines: 2 });
    for (let i = 0; i < 9; i++) log.append(`e${i}`);
    await log.close();
    await expect(readFile(file, 'utf8')).resolves.toBe('e0\ne1\ne2\ne7\ne8\n');
    expect(log.lost).toBe(true);
  });

  it('loses nothing when the overflow fits into the tail', async () => {
    const log = await EventLog.create(file, { headBytes: 3, tailLines: 2 });
    for (const line of ['e0', 'e1', 'e2']) log.append(line);
    await log.close();
    await expect(readFile(file, 'utf8')).resolves.toBe('e0\ne1\ne2\n');
    expect(log.lost).toBe(false);
  });

  it.each([
    ['after whole lines', 'e0\ne1\n', 'e1'],
    ['in the middle of a line', 'e0\ne1\ne2-is-c', 'e1'],
    ['in the middle of the first line', 'e0-is-c', null],
    ['before any line', '', null],
  ])('goes on with the log of a process that died %s', async (_, left, lastLine) => {
    await writeFile(file, left);
    const resumed = await EventLog.resume(file, { headBytes: 1000, tailLines: 10 });
    expect(resumed.lastLine).toBe(lastLine);
    resumed.log.append('next');
    await resumed.log.close();
    const whole = left.slice(0, left.lastIndexOf('\n') + 1);
    await expect(readFile(file, 'utf8')).resolves.toBe(`${whole}next\n`);
    expect(resumed.log.lost).toBe(false);
  });

  it('keeps its bound over several lives', async () => {
    await writeFile(file, 'e0\ne1\ne2\n');
    const { log } = await EventLog.resume(file, { headBytes: 9, tailLines: 2 });
    for (let i = 3; i < 9; i++) log.append(`e${i}`);
    await log.close();
    await expect(readFile(file, 'utf8')).resolves.toBe('e0\ne1\ne2\ne7\ne8\n');
    expect(log.lost).toBe(true);
  });

  it('does not keep a line that no honest monitor sends', async () => {
    const log = await EventLog.create(file, { headBytes: 100_000, tailLines: 2 });
    log.append('x'.repeat(16 * 1024 + 1));
    log.append('e1');
    await log.close();
    await expect(readFile(file, 'utf8')).resolves.toBe('e1\n');
    expect(log.lost).toBe(true);
  });

  it('says so when a line comes after the end or the disk refuses one', async () => {
    const closed = await EventLog.create(file, { headBytes: 100, tailLines: 2 });
    await closed.close();
    closed.append('late');
    expect(closed.lost).toBe(true);
    await expect(readFile(file, 'utf8')).resolves.toBe('');

    const full = await EventLog.create('/dev/full', { headBytes: 100, tailLines: 2 });
    full.append('refused');
    await full.close();
    expect(full.lost).toBe(true);
  });
});
