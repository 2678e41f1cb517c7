import { mkdtemp, open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { boundLog, openLog } from './log-file';

const GROWN_BYTES = 17 * 1024 * 1024;

describe('boundLog', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'inquest-log-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('empties a log that has grown large under its writer, and keeps what was in it aside', async () => {
    const logFile = path.join(directory, 'service.log');
    const writer = await openLog(logFile);
    await writer.write('early\n');
    await truncate(logFile, GROWN_BYTES);
    expect(await boundLog(logFile)).toBe(true);
    await writer.write('late\n');
    await writer.close();
    expect(await readFile(logFile, 'utf8')).toBe('late\n');
    const aside = await open(`${logFile}.1`);
    const { buffer } = await aside.read({ buffer: Buffer.alloc(6) });
    await aside.close();
    expect(buffer.toString()).toBe('early\n');
    expect((await stat(`${logFile}.1`)).size).toBe(GROWN_BYTES);
  });

  it('leaves a small log alone, and one that is not there', async () => {
    const logFile = path.join(directory, 'service.log');
    await writeFile(logFile, 'short\n');
    expect(await boundLog(logFile)).toBe(false);
    expect(await readFile(logFile, 'utf8')).toBe('short\n');
    expect(await boundLog(path.join(directory, 'none.log'))).toBe(false);
  });
});
