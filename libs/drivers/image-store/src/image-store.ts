import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { newId } from '@inquest/kernel';
import { imageStoreError } from './errors';
import { differences, identityOf } from './file-evidence';
import { flush, onFileSystem, statusOf, systemCode } from './file-system';
import { fsVerityTool, type FsVerity } from './fs-verity';
import { Staging } from './staging';
import {
  checkedFileNames,
  checkVersionDirectory,
  isOwnDirectory,
  takeFileRecords,
  type HashProgress,
} from './version-directory';
import { checkVerity, enableVerity, VERITY_ENABLED, withVerity } from './version-verity';
import { alreadyThere, changedFile, digestMismatch, missingFile } from './version-errors';
import { diskFormatOf, RECORD_FILE_NAME, STAGING_DIRECTORY_NAME, type DiskFormat } from './version-files';
import { checkVersionId, versionIdFrom, versionLabel, type VersionId } from './version-id';
import { parseVersionRecord, RECORD_FORMAT_VERSION, recordedFiles, type VersionRecord } from './version-record';

/** The unit of st_blocks (POSIX leaves it open; Linux has 512 everywhere). */
const STAT_BLOCK_BYTES = 512;
const SEALED_MODE = 0o444;
const PRIVATE_DIRECTORY_MODE = 0o700;
// Traversable by the unprivileged user that QEMU runs as.
const VERSION_DIRECTORY_MODE = 0o755;

/** A version that is in the store. */
export interface StoredVersion extends VersionId {
  /** True when it has a record. Only then may machines stand on it. */
  readonly isSealed: boolean;
}

/** Absolute paths of what a machine boots from. */
export interface BootFiles {
  readonly diskPath: string;
  readonly diskFormat: DiskFormat;
  readonly kernelPath: string;
  readonly initramfsPath: string;
}

/**
 * Image versions as files: `<root>/<name>/<version>/`, sealed ones with a record of what each file was. A version
 * appears whole or not at all, whatever is killed when; no method rewrites a file of a version.
 */
export class ImageStore {
  constructor(
    private readonly root: string,
    private readonly verity: FsVerity = fsVerityTool,
  ) {}

  /** An empty staging directory. The caller must `place` or `discard` it. */
  async stage(): Promise<Staging> {
    const directory = path.join(this.root, STAGING_DIRECTORY_NAME, newId('stage'));
    await onFileSystem('make a staging directory', () =>
      mkdir(directory, { recursive: true, mode: PRIVATE_DIRECTORY_MODE }),
    );
    return new Staging(directory);
  }

  /** A staging directory with writable copies of a version's files: the working copy of an unfrozen image. */
  async stageCopyOf(id: VersionId): Promise<Staging> {
    const directory = await this.existingDirectory(id);
    const files = await checkedFileNames(directory, id);
    const staging = await this.stage();
    try {
      for (const file of files) await staging.addCopy(path.join(directory, file), file);
    } catch (e) {
      await staging.discard();
      throw e;
    }
    return staging;
  }

  /**
   * Gives staged files their place as a version, still without a record. Throws `IMAGE_FILE_MISSING` or
   * `IMAGE_FILE_UNEXPECTED` when they are no version, `IMAGE_VERSION_EXISTS` when the number is taken; the staging
   * directory is then as it was.
   */
  async place(staging: Staging, id: VersionId): Promise<void> {
    const target = this.directoryOf(id);
    const files = await checkedFileNames(staging.directory, id);
    await onFileSystem(`place image ${versionLabel(id)}`, async () => {
      await mkdir(path.dirname(target), { recursive: true, mode: VERSION_DIRECTORY_MODE });
      await isOwnDirectory(path.dirname(target));
      if ((await statusOf(target)) !== null) throw alreadyThere(id);
      await rm(path.join(staging.directory, RECORD_FILE_NAME), { force: true }); // only `seal` makes records
      for (const file of files) await flush(staging.pathOf(file));
      await chmod(staging.directory, VERSION_DIRECTORY_MODE);
      await flush(staging.directory);
      await rename(staging.directory, target).catch((e: unknown) => {
        throw systemCode(e) === 'ENOTEMPTY' ? alreadyThere(id) : e;
      });
      await flush(path.dirname(target));
    });
  }

  /**
   * Puts a staged disk in the place of that of a version without a record: the working copy after its maintenance. Throws
   * `IMAGE_VERSION_SEALED` for one with a record, whose files nothing changes.
   */
  async replaceDisk(id: VersionId, staging: Staging): Promise<void> {
    const directory = await this.existingDirectory(id);
    await this.requireUnsealed(directory, id);
    const format = diskFormatOf(await checkedFileNames(staging.directory, id));
    if (format === null) throw missingFile(id, 'disk');
    const disk = `disk.${format}` as const;
    await onFileSystem(`replace the disk of image ${versionLabel(id)}`, async () => {
      await flush(staging.pathOf(disk));
      await rename(staging.pathOf(disk), path.join(directory, disk));
      await flush(directory);
    });
  }

  /**
   * Makes the files of a placed version read-only, gives them fs-verity where that is available, hashes them and writes the
   * record. A kill in the middle leaves the version without a record; sealing it again is then right. Throws
   * `IMAGE_VERSION_SEALED` when it has one.
   */
  async seal(
    id: VersionId,
    signal: AbortSignal,
    onProgress: (p: HashProgress) => void = ignore,
  ): Promise<VersionRecord> {
    const directory = await this.existingDirectory(id);
    await this.requireUnsealed(directory, id);
    return onFileSystem(`seal image ${versionLabel(id)}`, async () => {
      const names = await checkedFileNames(directory, id);
      // Before the hash: a change of mode changes the ctime that is recorded.
      for (const name of names) await chmod(path.join(directory, name), SEALED_MODE);
      const fsVerity = await enableVerity(this.verity, directory, names, signal);
      const taken = await takeFileRecords(directory, names, signal, onProgress);
      const files = fsVerity === VERITY_ENABLED ? await withVerity(this.verity, directory, taken, signal) : taken;
      const record: VersionRecord = { formatVersion: RECORD_FORMAT_VERSION, ...id, files, fsVerity };
      await this.writeRecord(directory, record);
      return record;
    });
  }

  /** The record of a sealed version. Throws `IMAGE_VERSION_MISSING`, `IMAGE_RECORD_MISSING` or `IMAGE_RECORD_INVALID`. */
  async readRecord(id: VersionId): Promise<VersionRecord> {
    const directory = await this.existingDirectory(id);
    const file = path.join(directory, RECORD_FILE_NAME);
    if ((await this.recordStatus(directory))?.isFile() !== true) {
      throw imageStoreError(
        'IMAGE_RECORD_MISSING',
        `image ${versionLabel(id)} has no record, so nothing may start from it`,
      );
    }
    return parseVersionRecord(await onFileSystem(`read ${file}`, () => readFile(file, 'utf8')), id);
  }

  /** Whether a version has a record. Throws `IMAGE_VERSION_MISSING`. */
  async isSealed(id: VersionId): Promise<boolean> {
    return (await this.recordStatus(await this.existingDirectory(id))) !== null;
  }

  /**
   * What every start does: compares the files with the record without reading them, in constant time. Throws
   * `IMAGE_FILE_CHANGED` (naming each difference with both values), `IMAGE_FILE_MISSING`, `IMAGE_VERSION_MISSING` or
   * `IMAGE_DIRECTORY_UNSAFE`. A change that restores all of inode, size, times and mode shows only in `verifyFully`.
   */
  async checkAtLaunch(record: VersionRecord): Promise<void> {
    const directory = await this.existingDirectory(record);
    for (const [name, recorded] of recordedFiles(record)) {
      const status = await onFileSystem(`look at ${name}`, () => statusOf(path.join(directory, name)));
      if (status === null) throw missingFile(record, name);
      const changes = status.isFile() ? differences(recorded, identityOf(status)) : ['it is no regular file any more'];
      if (changes.length > 0) throw changedFile(record, name, changes);
    }
  }

  /**
   * Reads every file and compares its digest with the record, then checks as at launch. Throws `IMAGE_DIGEST_MISMATCH`
   * with both digests, `IMAGE_FILE_UNEXPECTED`, what `checkAtLaunch` throws, or `OPERATION_ABORTED`. Changes nothing.
   */
  async verifyFully(
    record: VersionRecord,
    signal: AbortSignal,
    onProgress: (p: HashProgress) => void = ignore,
  ): Promise<void> {
    const directory = await this.existingDirectory(record);
    const names = await checkedFileNames(directory, record);
    const found = await onFileSystem(`verify image ${versionLabel(record)}`, () =>
      takeFileRecords(directory, names, signal, onProgress),
    );
    for (const [name, recorded] of recordedFiles(record)) {
      const digest = found[name]?.digest;
      if (digest === undefined) throw missingFile(record, name);
      if (digest !== recorded.digest) throw digestMismatch(record, name, recorded.digest, digest);
      await checkVerity(this.verity, directory, record, name, signal);
    }
    await this.checkAtLaunch(record);
  }

  /** Where a version's files are. Throws `IMAGE_VERSION_MISSING` or `IMAGE_FILE_MISSING`. */
  async locate(id: VersionId): Promise<BootFiles> {
    const directory = await this.existingDirectory(id);
    const diskFormat = diskFormatOf(await checkedFileNames(directory, id));
    if (diskFormat === null) throw missingFile(id, 'disk');
    return {
      diskPath: path.join(directory, `disk.${diskFormat}`),
      diskFormat,
      kernelPath: path.join(directory, 'vmlinux'),
      initramfsPath: path.join(directory, 'initramfs.cpio'),
    };
  }

  /** Blocks that a version's files occupy, in bytes. Throws `IMAGE_VERSION_MISSING`. */
  async diskUseBytes(id: VersionId): Promise<number> {
    const directory = await this.existingDirectory(id);
    return onFileSystem(`look at ${directory}`, async () => {
      const names = await readdir(directory);
      const stats = await Promise.all(names.map((name) => statusOf(path.join(directory, name))));
      return stats.reduce((sum, status) => sum + Number(status?.blocks ?? 0n) * STAT_BLOCK_BYTES, 0);
    });
  }

  /** Every version in the store, by name and number. Whatever the store did not make is not listed. */
  async list(): Promise<readonly StoredVersion[]> {
    const versions: StoredVersion[] = [];
    for (const name of await this.directoriesIn(this.root)) {
      for (const child of await this.directoriesIn(path.join(this.root, name))) {
        const id = versionIdFrom(name, child);
        if (id === null) continue;
        const record = await this.recordStatus(this.directoryOf(id));
        versions.push({ ...id, isSealed: record !== null });
      }
    }
    return versions.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)) || a.version - b.version);
  }

  /** Removes a version; it disappears at once, its blocks a little later. Whether anything stands on it is the caller's to know. */
  async remove(id: VersionId): Promise<void> {
    const directory = await this.existingDirectory(id);
    const staging = await this.stage();
    try {
      await onFileSystem(`remove image ${versionLabel(id)}`, async () => {
        await rename(directory, path.join(staging.directory, 'removed'));
        await flush(path.dirname(directory));
      });
    } finally {
      await staging.discard();
    }
  }

  /** Removes what killed processes left in staging. Only before anything of this life is staged. Gives how many there were. */
  async removeStagingLeftovers(): Promise<number> {
    const staging = path.join(this.root, STAGING_DIRECTORY_NAME);
    return onFileSystem('remove staging leftovers', async () => {
      const leftovers = await this.directoriesIn(staging);
      await rm(staging, { recursive: true, force: true });
      return leftovers.length;
    });
  }

  /** Where a version is or would be. The only place where an id becomes a path. */
  private directoryOf(id: VersionId): string {
    const { name, version } = checkVersionId(id);
    return path.join(this.root, name, String(version));
  }

  private async existingDirectory(id: VersionId): Promise<string> {
    const directory = this.directoryOf(id);
    await checkVersionDirectory(directory, id);
    return directory;
  }

  private async requireUnsealed(directory: string, id: VersionId): Promise<void> {
    if ((await this.recordStatus(directory)) === null) return;
    throw imageStoreError('IMAGE_VERSION_SEALED', `image ${versionLabel(id)} is sealed and never changed again`);
  }

  private recordStatus(directory: string) {
    return onFileSystem(`look at ${directory}`, () => statusOf(path.join(directory, RECORD_FILE_NAME)));
  }

  private directoriesIn(directory: string): Promise<readonly string[]> {
    return onFileSystem(`list ${directory}`, async () => {
      const entries = await readdir(directory, { withFileTypes: true }).catch((e: unknown) => {
        if (systemCode(e) === 'ENOENT') return [];
        throw e;
      });
      return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    });
  }

  private async writeRecord(directory: string, record: VersionRecord): Promise<void> {
    const staging = await this.stage();
    try {
      const file = path.join(staging.directory, RECORD_FILE_NAME);
      await writeFile(file, `${JSON.stringify(record, null, 2)}\n`, { mode: SEALED_MODE });
      await flush(file);
      await rename(file, path.join(directory, RECORD_FILE_NAME));
      await flush(directory);
    } finally {
      await staging.discard();
    }
  }
}

const ignore = (): void => undefined;
