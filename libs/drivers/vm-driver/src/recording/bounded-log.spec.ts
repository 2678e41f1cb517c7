import { copyFile, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { tempDir, type TempDir } from '@inquest/testing';
import fc from 'fast-check';
import { BoundedLog } from './bounded-log';

describe('BoundedLog', () => {
  let directory: TempDir;
  let count = 0;
  beforeAll(async () => {
    directory = await tempDir('bounded-log');
  });
  afterAll(() => directory.remove());

  const paths = (): { headPath: string; tailPath: string } => {
    const base = path.join(directory.path, String(++count));
    return { headPath: `${base}.log`, tailPath: `${base}.tail.log` };
  };
  const readTail = (file: string): Promise<Buffer> => readFile(file).catch(() => Buffer.alloc(0));

  it('keeps head and tail and accounts for every byte, however the stream is chunked', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 20 }),
        fc.nat({ max: 60 }),
        fc.integer({ min: 1, max: 40 }),
        async (chunks, headBytes, tailBytes) => {
          const files = paths();
          const log = await BoundedLog.create({ ...files, headBytes, tailBytes });
          for (const chunk of chunks) await log.append(chunk);
          await log.close();
          const all = Buffer.concat(chunks);
          const [head, tail] = [await readFile(files.headPath), await readTail(files.tailPath)];
          expect(head).toEqual(all.subarray(0, headBytes));
          expect(tail).toEqual(all.subarray(Math.max(headBytes, all.length - tailBytes)));
          expect(log.totalBytes).toBe(all.length);
          expect(head.length + tail.length + log.droppedBytes).toBe(all.length);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('writes the head as it comes and makes no tail file without an overflow', async () => {
    const files = paths();
    const log = await BoundedLog.create({ ...files, headBytes: 100, tailBytes: 10 });
    await log.append(Buffer.from('boot'));
    await expect(readFile(files.headPath, 'utf8')).resolves.toBe('boot');
    await log.close();
    await expect(stat(files.tailPath)).rejects.toMatchObject({ code: 'ENOENT' });
    expect((await stat(files.headPath)).mode & 0o777).toBe(0o600);
  });

  it('has a recent tail on disk before it is closed', async () => {
    const files = paths();
    const log = await BoundedLog.create({ ...files, headBytes: 1, tailBytes: 4 });
    await log.append(Buffer.from('abcdefgh'));
    await expect(readFile(files.tailPath, 'utf8')).resolves.toBe('efgh');
    await log.close();
    await log.close();
  });

  it('gives the most recent bytes across head and tail', async () => {
    const log = await BoundedLog.create({ ...paths(), headBytes: 3, tailBytes: 4 });
    await log.append(Buffer.from('abcd'));
    expect(Buffer.from(log.recent(2)).toString()).toBe('cd');
    expect(Buffer.from(log.recent(99)).toString()).toBe('abcd');
    expect(log.recent(0)).toHaveLength(0);
    await log.close();
  });

  it('goes on with the log of a process that died at any byte as if it had not, when what it asks for comes again', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 200 }),
        fc.nat({ max: 200 }),
        fc.nat({ max: 200 }),
        fc.nat({ max: 60 }),
        fc.integer({ min: 1, max: 40 }),
        async (stream, seen, grown, headBytes, tailBytes) => {
          const diedAt = Math.min(seen, stream.length);
          const resumedAt = Math.min(diedAt + grown, stream.length);
          const [earlier, files] = [paths(), paths()];
          const dead = await BoundedLog.create({ ...earlier, headBytes, tailBytes });
          await dead.append(stream.subarray(0, diedAt));
          // As its death leaves them.
          await copyFile(earlier.headPath, files.headPath);
          await copyFile(earlier.tailPath, files.tailPath).catch(() => undefined);
          await dead.close();

          const log = await BoundedLog.resume({ ...files, headBytes, tailBytes }, resumedAt);
          expect(log.totalBytes).toBeLessThanOrEqual(resumedAt);
          await log.append(stream.subarray(log.totalBytes, resumedAt));
          await log.append(stream.subarray(resumedAt));
          await log.close();
          const [head, tail] = [await readFile(files.headPath), await readTail(files.tailPath)];
          const all = Buffer.from(stream);
          expect(head).toEqual(all.subarray(0, headBytes));
          expect(tail).toEqual(all.subarray(Math.max(headBytes, all.length - tailBytes)));
          expect(log.totalBytes).toBe(all.length);
          expect(head.length + tail.length + log.droppedBytes).toBe(all.length);
          expect(Buffer.from(log.recent(tailBytes))).toEqual(all.subarray(Math.max(0, all.length - tailBytes)));
        },
      ),
      { numRuns: 150 },
    );
  });

  it('counts what the disk refuses as dropped', async () => {
    // Every write to this device fails with ENOSPC, null(4).
    const log = await BoundedLog.create({ headPath: '/dev/full', tailPath: '/dev/full/x', headBytes: 4, tailBytes: 2 });
    await log.append(Buffer.from('abcdef'));
    await log.close();
    expect(log).toMatchObject({ totalBytes: 6, droppedBytes: 6 });
  });
});
