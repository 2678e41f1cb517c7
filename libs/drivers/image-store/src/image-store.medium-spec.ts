import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  chmod,
  copyFile,
  link,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { FsVerity } from './fs-verity';
import { ImageStore } from './image-store';
import type { Staging } from './staging';
import { IMAGE_FILE_NAMES, type ImageFileName } from './version-files';
import type { VersionId } from './version-id';

const TINY: VersionId = { name: 'tiny', version: 1 };
const never = new AbortController().signal;
const FILES: readonly ImageFileName[] = ['disk.raw', 'vmlinux', 'initramfs.cpio'];

describe('ImageStore', () => {
  let root: string;
  let store: ImageStore;
  const at = (...parts: string[]): string => path.join(root, ...parts);

  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'image-store-'));
    store = new ImageStore(root);
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const stageFiles = async (names: readonly string[] = FILES): Promise<Staging> => {
    const staging = await store.stage();
    for (const name of names) await writeFile(path.join(staging.directory, name), `content of ${name}`);
    return staging;
  };
  const place = async (id = TINY): Promise<void> => store.place(await stageFiles(), id);
  const seal = async (id = TINY) => {
    await place(id);
    return store.seal(id, never);
  };

  it('gives a sealed version read-only files and a record of each', async () => {
    const record = await seal();
    expect(Object.keys(record.files)).toEqual(['disk.raw', 'initramfs.cpio', 'vmlinux']);
    expect(record.files['disk.raw']).toMatchObject({
      sizeBytes: 19,
      mode: '0444',
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    expect((await stat(at('tiny', '1', 'disk.raw'))).mode & 0o777).toBe(0o444);
    expect(await store.readRecord(TINY)).toEqual(record);
    await store.checkAtLaunch(record);
    await store.verifyFully(record, never);
    expect(await store.locate(TINY)).toEqual({
      diskPath: at('tiny', '1', 'disk.raw'),
      diskFormat: 'raw',
      kernelPath: at('tiny', '1', 'vmlinux'),
      initramfsPath: at('tiny', '1', 'initramfs.cpio'),
    });
  });

  it('replaces the disk of a version without a record, and of none with one', async () => {
    await place();
    const changed = await stageFiles();
    await writeFile(changed.pathOf('disk.raw'), 'maintained');
    await store.replaceDisk(TINY, changed);
    expect(await readFile(at('tiny', '1', 'disk.raw'), 'utf8')).toBe('maintained');
    await store.seal(TINY, never);
    await expect(store.replaceDisk(TINY, await stageFiles())).rejects.toMatchObject({ code: 'IMAGE_VERSION_SEALED' });
    expect(await readFile(at('tiny', '1', 'disk.raw'), 'utf8')).toBe('maintained');
  });

  it('tells the blocks that a version takes, which holes do not', async () => {
    const staging = await stageFiles();
    await truncate(staging.pathOf('disk.raw'), 1024 ** 3);
    await store.place(staging, TINY);
    const used = await store.diskUseBytes(TINY);
    expect(used).toBeGreaterThan(0);
    expect(used).toBeLessThan(1024 ** 2);
    await expect(store.diskUseBytes({ name: 'tiny', version: 2 })).rejects.toMatchObject({
      code: 'IMAGE_VERSION_MISSING',
    });
  });

  it('lists versions by number, sealed or not, and nothing else', async () => {
    await seal({ name: 'tiny', version: 10 });
    await place({ name: 'tiny', version: 9 });
    await place({ name: 'debian', version: 1 });
    await store.stage();
    await mkdir(at('tiny', 'draft'));
    await mkdir(at('Not An Image', '1'), { recursive: true });
    expect(await store.list()).toEqual([
      { name: 'debian', version: 1, isSealed: false },
      { name: 'tiny', version: 9, isSealed: false },
      { name: 'tiny', version: 10, isSealed: true },
    ]);
  });

  it('lists nothing when the store was never used', async () => {
    expect(await new ImageStore(at('nowhere')).list()).toEqual([]);
  });

  describe('launch check', () => {
    it.each([
      ['20 MB', 20e6],
      ['2 GB', 2e9],
    ])('takes no longer than 5 ms for a disk of %s', async (_what, sizeBytes) => {
      const staging = await stageFiles();
      await truncate(staging.pathOf('disk.raw'), sizeBytes);
      await store.place(staging, TINY);
      const record = await store.seal(TINY, never);
      const timesMs: number[] = [];
      for (let round = 0; round < 20; round++) {
        const startMs = performance.now();
        await store.checkAtLaunch(record);
        timesMs.push(performance.now() - startMs);
      }
      expect(Math.min(...timesMs)).toBeLessThan(5);
    });

    it('names the file and both values when a file was replaced under its record', async () => {
      const record = await seal();
      const file = at('tiny', '1', 'disk.raw');
      await copyFile(file, `${file}.new`);
      await rename(`${file}.new`, file);
      const inode = (await stat(file)).ino;
      await expect(store.checkAtLaunch(record)).rejects.toMatchObject({
        code: 'IMAGE_FILE_CHANGED',
        message: expect.stringContaining(`inode was ${record.files['disk.raw']?.inode}, is ${inode}`),
        details: { name: 'tiny', version: 1, file: 'disk.raw' },
      });
    });

    it('sees a changed mode, size and time', async () => {
      const record = await seal();
      const file = at('tiny', '1', 'vmlinux');
      await chmod(file, 0o644);
      await expect(store.checkAtLaunch(record)).rejects.toThrow(/vmlinux .* mode was 0444, is 0644/);
      await writeFile(file, 'x');
      await expect(store.checkAtLaunch(record)).rejects.toThrow(/sizeBytes was 18, is 1;/);
    });

    it('sees a write whose times were set back, by the ctime that nobody can set', async () => {
      const record = await seal();
      const file = at('tiny', '1', 'disk.raw');
      const { atime, mtime } = await stat(file);
      await flipBit(file);
      await utimes(file, atime, mtime);
      await expect(store.checkAtLaunch(record)).rejects.toThrow(/ctimeNs was/);
    });

    it('refuses a version that is gone, lacks a file, or has a link in its place', async () => {
      const record = await seal();
      await expect(store.checkAtLaunch({ ...record, version: 2 })).rejects.toMatchObject({
        code: 'IMAGE_VERSION_MISSING',
      });
      await rm(at('tiny', '1', 'vmlinux'));
      await expect(store.checkAtLaunch(record)).rejects.toMatchObject({ code: 'IMAGE_FILE_MISSING' });
      await symlink('/etc/passwd', at('tiny', '1', 'vmlinux'));
      await expect(store.checkAtLaunch(record)).rejects.toMatchObject({ code: 'IMAGE_FILE_CHANGED' });
    });

    it.each(['tiny', 'tiny/1'])('refuses when %s is a symbolic link, even to the very files', async (link) => {
      const record = await seal();
      await rename(at(link), at('elsewhere'));
      await symlink(at('elsewhere'), at(link));
      await expect(store.checkAtLaunch(record)).rejects.toMatchObject({ code: 'IMAGE_DIRECTORY_UNSAFE' });
      await expect(store.remove(TINY)).rejects.toMatchObject({ code: 'IMAGE_DIRECTORY_UNSAFE' });
      expect(await readdir(at('elsewhere'))).not.toEqual([]);
    });
  });

  describe('full verification', () => {
    it('finds a single flipped bit and names both digests', async () => {
      const record = await seal();
      await flipBit(at('tiny', '1', 'disk.raw'));
      const recorded = record.files['disk.raw']?.digest ?? '';
      await expect(store.verifyFully(record, never)).rejects.toMatchObject({
        code: 'IMAGE_DIGEST_MISMATCH',
        message: expect.stringMatching(
          new RegExp(`recorded as ${recorded} and is sha256:(?!${recorded.slice(7)})[0-9a-f]{64}`),
        ),
      });
    });

    it('tells how far it is', async () => {
      const record = await seal();
      const seen: number[] = [];
      await store.verifyFully(record, never, ({ doneBytes, totalBytes }) => seen.push(doneBytes / totalBytes));
      expect(seen.at(-1)).toBe(1);
      expect(seen).toEqual([...seen].sort((a, b) => a - b));
    });

    it('stops when it is cancelled', async () => {
      const record = await seal();
      await expect(store.verifyFully(record, AbortSignal.abort())).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    });

    it('refuses a file that the record does not know', async () => {
      const record = await seal();
      await writeFile(at('tiny', '1', 'extra'), '');
      await expect(store.verifyFully(record, never)).rejects.toMatchObject({ code: 'IMAGE_FILE_UNEXPECTED' });
    });
  });

  describe('with fs-verity', () => {
    /** A file system that has it; or not, with the reason. */
    const verityOf = (reason: string | null): FsVerity & { readonly digests: Map<string, string> } => {
      const digests = new Map<string, string>();
      return {
        digests,
        enable: async (file) => {
          if (reason === null) digests.set(file, `sha256:${String(digests.size + 1).padStart(64, '0')}`);
          return reason;
        },
        measure: async (file) => digests.get(file) ?? '',
      };
    };

    it('records the digest of the kernel for each file, and compares it when everything is verified', async () => {
      const verity = verityOf(null);
      store = new ImageStore(root, verity);
      const record = await seal();
      expect(record.fsVerity).toBe('enabled');
      expect(record.files['disk.raw']?.verityDigest).toBe(verity.digests.get(at('tiny', '1', 'disk.raw')));
      await store.verifyFully(record, never);
      verity.digests.set(at('tiny', '1', 'vmlinux'), `sha256:${'f'.repeat(64)}`);
      await expect(store.verifyFully(record, never)).rejects.toMatchObject({
        code: 'IMAGE_DIGEST_MISMATCH',
        details: { file: 'vmlinux', found: `sha256:${'f'.repeat(64)}` },
      });
    });

    it('seals all the same where there is none, and says why in the record', async () => {
      store = new ImageStore(root, verityOf('the file system has none'));
      const record = await seal();
      expect(record.fsVerity).toBe('not available: the file system has none');
      expect(record.files['disk.raw']?.verityDigest).toBeUndefined();
      expect(await store.readRecord(TINY)).toEqual(record);
      await store.verifyFully(record, never);
    });
  });

  describe('placing', () => {
    it.each(IMAGE_FILE_NAMES.filter((name) => name !== 'disk.qcow2'))(
      'refuses a version without %s and leaves no trace',
      async (lacking) => {
        const staging = await stageFiles(FILES.filter((name) => name !== lacking));
        await expect(store.place(staging, TINY)).rejects.toMatchObject({ code: 'IMAGE_FILE_MISSING' });
        expect(await store.list()).toEqual([]);
        expect(existsSync(staging.directory)).toBe(true);
      },
    );

    it('refuses two disks', async () => {
      await expect(store.place(await stageFiles([...FILES, 'disk.qcow2']), TINY)).rejects.toMatchObject({
        code: 'IMAGE_FILE_MISSING',
      });
    });

    it('refuses links, further names of a file, directories and files that no image has', async () => {
      const withLink = await stageFiles(['disk.raw', 'vmlinux']);
      await symlink('/etc/passwd', withLink.pathOf('initramfs.cpio'));
      const withName = await stageFiles(['disk.raw', 'vmlinux']);
      await writeFile(at('outside'), '');
      await link(at('outside'), withName.pathOf('initramfs.cpio'));
      const withDirectory = await stageFiles(['disk.raw', 'vmlinux']);
      await mkdir(withDirectory.pathOf('initramfs.cpio'));
      for (const staging of [withLink, withName, withDirectory, await stageFiles([...FILES, 'notes.txt'])]) {
        await expect(store.place(staging, TINY)).rejects.toMatchObject({ code: 'IMAGE_FILE_UNEXPECTED' });
      }
      expect(await store.list()).toEqual([]);
    });

    it('never replaces a version', async () => {
      const record = await seal();
      await expect(place()).rejects.toMatchObject({ code: 'IMAGE_VERSION_EXISTS' });
      await store.verifyFully(record, never);
    });

    it('lets one of two placers of the same version win', async () => {
      const outcomes = await Promise.allSettled([place(), place(), place()]);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'IMAGE_VERSION_EXISTS' });
      }
    });
  });

  it.each([
    ['../evil', 1, 'IMAGE_NAME_INVALID'],
    ['a/b', 1, 'IMAGE_NAME_INVALID'],
    ['.staging', 1, 'IMAGE_NAME_INVALID'],
    ['Tiny', 1, 'IMAGE_NAME_INVALID'],
    ['', 1, 'IMAGE_NAME_INVALID'],
    ['x'.repeat(33), 1, 'IMAGE_NAME_INVALID'],
    ['tiny', 0, 'IMAGE_VERSION_INVALID'],
    ['tiny', 1.5, 'IMAGE_VERSION_INVALID'],
    ['tiny', Number.NaN, 'IMAGE_VERSION_INVALID'],
  ])('makes no path out of %j version %j', async (name, version, code) => {
    await expect(store.place(await stageFiles(), { name, version })).rejects.toMatchObject({ code });
    await expect(store.locate({ name, version })).rejects.toMatchObject({ code });
    expect(await readdir(root)).toEqual(['.staging']);
  });

  it('does not start from a version without a record, with a broken one or with another version’s', async () => {
    await place();
    await expect(store.readRecord(TINY)).rejects.toMatchObject({ code: 'IMAGE_RECORD_MISSING' });
    await writeFile(at('tiny', '1', 'record.json'), '{"formatVersion":1}');
    await expect(store.readRecord(TINY)).rejects.toMatchObject({ code: 'IMAGE_RECORD_INVALID' });
    await seal({ name: 'tiny', version: 2 });
    await copyFile(at('tiny', '2', 'record.json'), at('tiny', '1', 'record.json'));
    await expect(store.readRecord(TINY)).rejects.toMatchObject({ code: 'IMAGE_RECORD_INVALID' });
  });

  it('never seals a version twice', async () => {
    const record = await seal();
    await expect(store.seal(TINY, never)).rejects.toMatchObject({ code: 'IMAGE_VERSION_SEALED' });
    expect(await store.readRecord(TINY)).toEqual(record);
  });

  it('leaves a version without a record when sealing is cancelled, and seals it later', async () => {
    await place();
    await expect(store.seal(TINY, AbortSignal.abort())).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    expect(await store.list()).toEqual([{ ...TINY, isSealed: false }]);
    await store.checkAtLaunch(await store.seal(TINY, never));
  });

  it('opens a writable working copy that does not touch the frozen version', async () => {
    const record = await seal();
    const copy = await store.stageCopyOf(TINY);
    expect((await readdir(copy.directory)).sort()).toEqual(['disk.raw', 'initramfs.cpio', 'vmlinux']);
    await writeFile(copy.pathOf('disk.raw'), 'changed in maintenance');
    await store.place(copy, { name: 'tiny', version: 2 });
    await store.verifyFully(record, never);
    expect(await readFile(at('tiny', '2', 'disk.raw'), 'utf8')).toBe('changed in maintenance');
  });

  it('removes a version, also a sealed one', async () => {
    await seal();
    await store.remove(TINY);
    expect(await store.list()).toEqual([]);
    expect(await readdir(at('.staging'))).toEqual([]);
    await expect(store.remove(TINY)).rejects.toMatchObject({ code: 'IMAGE_VERSION_MISSING' });
  });

  it('lists nothing of a version whose maker was killed, and removes what it left', async () => {
    const maker = spawn(process.execPath, ['-e', KILLED_WHILE_STAGING, at('.staging', 'stage-killed')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(maker.stdout, 'data');
    maker.kill('SIGKILL');
    await once(maker, 'exit');
    expect(await store.list()).toEqual([]);
    expect(await store.removeStagingLeftovers()).toBe(1);
    expect(existsSync(at('.staging'))).toBe(false);
    await seal();
  });
});

// Writes one file after the other into a staging directory, for as long as it lives.
const KILLED_WHILE_STAGING = `
  const { mkdirSync, writeFileSync } = require('node:fs');
  const directory = process.argv[1];
  mkdirSync(directory, { recursive: true });
  writeFileSync(directory + '/disk.raw', 'half');
  process.stdout.write('written');
  setInterval(() => writeFileSync(directory + '/disk.raw', 'half'), 1);
`;

async function flipBit(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    const byte = Buffer.alloc(1);
    await handle.read(byte, 0, 1, 3);
    await handle.write(Buffer.of((byte[0] ?? 0) ^ 1), 0, 1, 3);
  } finally {
    await handle.close();
  }
}
