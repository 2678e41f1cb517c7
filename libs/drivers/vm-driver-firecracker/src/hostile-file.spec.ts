import { appendFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { tempDir } from '@inquest/testing';
import { readTail } from './hostile-file';

describe('readTail', () => {
  let root: Awaited<ReturnType<typeof tempDir>>;
  let file: string;
  beforeEach(async () => {
    root = await tempDir('tail');
    file = path.join(root.path, 'stderr.log');
  });
  afterEach(() => root.remove());

  const read = async (): Promise<string> => (await readTail(file, 8)).toString();

  it('gives the end of a file, or all of a short one', async () => {
    await writeFile(file, 'short');
    await expect(read()).resolves.toBe('short');
    await appendFile(file, ' or long');
    await expect(read()).resolves.toBe(' or long');
  });

  it('reads nothing through a link, from a directory, or where nothing is', async () => {
    await expect(read()).resolves.toBe('');
    await writeFile(`${file}.secret`, 'secret');
    await symlink(`${file}.secret`, file);
    await expect(read()).resolves.toBe('');
    await expect(readTail(root.path, 8)).resolves.toHaveLength(0);
  });
});
