import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fsVerityTool } from './fs-verity';

const never = new AbortController().signal;
const DIGEST = `sha256:${'a'.repeat(64)}`;

describe('fs-verity by the program of its name', () => {
  let directory: string;
  const { PATH } = process.env;

  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'fs-verity-'));
    process.env['PATH'] = `${directory}:${PATH ?? ''}`;
  });
  afterEach(async () => {
    process.env['PATH'] = PATH;
    await rm(directory, { recursive: true, force: true });
  });

  /** A program that ends as the real one does. */
  const answer = async (line: string, exitCode: number): Promise<void> => {
    const program = path.join(directory, 'fsverity');
    await writeFile(program, `#!/bin/sh\necho "${line}" ${exitCode === 0 ? '' : '>&2'}\nexit ${exitCode}\n`);
    await chmod(program, 0o755);
  };
  const enable = () => fsVerityTool.enable('/some/disk.raw', never);
  const measure = () => fsVerityTool.measure('/some/disk.raw', never);

  it('is enabled where the file system has it, and where it was on already', async () => {
    await answer('', 0);
    await expect(enable()).resolves.toBeNull();
    await answer("ERROR: FS_IOC_ENABLE_VERITY failed on '/some/disk.raw': File exists", 1);
    await expect(enable()).resolves.toBeNull();
  });

  it('is not available where the kernel or the file system refuses it, in their words', async () => {
    await answer("ERROR: FS_IOC_ENABLE_VERITY failed on '/some/disk.raw': Operation not supported", 1);
    await expect(enable()).resolves.toBe('Operation not supported');
  });

  it('is not available where the program is not installed', async () => {
    process.env['PATH'] = directory;
    await expect(enable()).resolves.toContain('fsverity is not installed');
  });

  it('tells the digest of the kernel', async () => {
    await answer(`${DIGEST} /some/disk.raw`, 0);
    await expect(measure()).resolves.toBe(DIGEST);
  });

  it.each([
    ['a file without it', "ERROR: FS_IOC_MEASURE_VERITY failed on '/some/disk.raw': No data available", 1],
    ['another digest than sha256', `sha512:${'a'.repeat(128)} /some/disk.raw`, 0],
  ])('takes %s for a file that was changed', async (_what, line, exitCode) => {
    await answer(line, exitCode);
    await expect(measure()).rejects.toMatchObject({ code: 'IMAGE_FILE_CHANGED' });
  });
});
