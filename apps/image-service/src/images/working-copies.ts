import { chmod } from 'node:fs/promises';
import { Inject, Injectable } from '@nestjs/common';
import { imageError } from '@inquest/contracts-image';
import type { OperationView } from '@inquest/contracts-base';
import { ImageStore, onFileSystem } from '@inquest/image-store';
import { settleFileSystem } from '../import/disk-converter';
import { OperationsService, type OperationProgress } from '../operations/operations.service';
import { imageUnknown } from './image-refusals';
import type { ImageVersionEntity } from './image-version.entity';
import { ImageVersionsRepository } from './image-versions.repository';
import { recordOf } from './sealed-record';
import { newVersion, VersionMaking } from './version-making';

const WRITABLE_MODE = 0o644;

/** Working copies: a version unfrozen for maintenance, which becomes the next version when it is frozen. */
@Injectable()
export class WorkingCopies {
  constructor(
    private readonly versions: ImageVersionsRepository,
    private readonly operations: OperationsService,
    private readonly making: VersionMaking,
    @Inject(ImageStore) private readonly store: ImageStore,
  ) {}

  /**
   * Makes a writable copy of a frozen version, of the newest when `wanted` is null; the version itself is not touched.
   * Throws `IMAGE_UNKNOWN`, `IMAGE_NOT_FROZEN`, `IMAGE_STATE_WRONG` while a copy is open, `IMAGE_BUSY`.
   */
  async unfreeze(name: string, wanted: number | null, reason: string): Promise<OperationView> {
    const parent = await this.chooseParent(name, wanted);
    const version = await this.versions.nextNumber(name);
    return this.operations.begin('image.unfreeze', name, version, async (progress) => {
      // Chosen anew: an operation that has just ended may have opened a copy.
      await this.copy(await this.chooseParent(name, parent.version), version, reason, progress);
    });
  }

  /**
   * The open working copy that a maintenance machine may write. Throws `IMAGE_BUSY` while an operation works on the image,
   * and `IMAGE_STATE_WRONG` when no copy is open, its freeze was interrupted, or another version was asked for.
   */
  async open(name: string, version: number | null): Promise<ImageVersionEntity> {
    await this.operations.requireIdle(name);
    const copy = (await this.versions.of(name)).find(({ state }) => state === 'unfrozen');
    if (copy !== undefined && (version === null || version === copy.version)) return this.requireWritable(copy);
    const what = copy === undefined ? 'has no open working copy' : `has ${name}:${copy.version} as its working copy`;
    throw imageError('IMAGE_STATE_WRONG', `image ${name} ${what}; unfreeze a frozen version for maintenance`, {
      image: name,
    });
  }

  /** Sealed files are nobody's to write, also when a kill kept the version from being frozen. */
  private async requireWritable(copy: ImageVersionEntity): Promise<ImageVersionEntity> {
    const { name, version } = copy;
    if (await this.store.isSealed(copy)) {
      const message = `the freeze of ${name}:${version} was interrupted when it was sealed; freeze it again, or discard it`;
      throw imageError('IMAGE_STATE_WRONG', message, { image: name, version });
    }
    // A freeze that ended in its checksum has made it read-only already.
    const { diskPath } = await this.store.locate(copy);
    await onFileSystem('open a working copy', () => chmod(diskPath, WRITABLE_MODE));
    return copy;
  }

  /**
   * Gives the working copy a disk of our own, made of what the maintenance machines wrote, and repairs what one left that
   * was not powered off. Nobody who still has the old disk open can change it. Throws `IMAGE_FILE_SYSTEM_DAMAGED` when it is
   * beyond repair; the old disk is then still there.
   */
  async settle(copy: ImageVersionEntity, { signal }: OperationProgress): Promise<void> {
    const staging = await this.store.stageCopyOf(copy);
    try {
      await settleFileSystem(staging.pathOf('disk.raw'), signal);
      await this.store.replaceDisk(copy, staging);
    } finally {
      await staging.discard();
    }
  }

  private async chooseParent(name: string, wanted: number | null): Promise<ImageVersionEntity> {
    const rows = await this.versions.of(name);
    if (rows.length === 0) throw imageUnknown(name);
    const copy = rows.find(({ state }) => state === 'unfrozen');
    if (copy !== undefined) {
      const message = `image ${name} is unfrozen already: its working copy is ${name}:${copy.version}`;
      throw imageError('IMAGE_STATE_WRONG', message, { image: name, version: copy.version });
    }
    const parent = rows.find(({ state, version }) => state === 'frozen' && (wanted === null || version === wanted));
    if (parent !== undefined) return parent;
    const what = wanted === null ? `no version of ${name} is frozen` : `${name}:${wanted} is not a frozen version`;
    throw imageError('IMAGE_NOT_FROZEN', `${what}, so there is nothing to unfreeze`, { image: name });
  }

  private async copy(
    parent: ImageVersionEntity,
    version: number,
    reason: string,
    progress: OperationProgress,
  ): Promise<void> {
    const { name, version: parentVersion } = parent;
    const message = `working copy of ${name}:${parentVersion}: ${reason}`;
    const row = newVersion({
      ...parent,
      version,
      state: 'building',
      origin: 'maintenance',
      message,
      parentVersion,
      unfreezeReason: reason,
      digest: null,
      sourceDigest: null,
      checks: [],
      smokeMs: null,
      templateMs: null,
      sealedFiles: [],
      packages: [],
      createdAt: new Date(),
      frozenAt: null,
      verifiedAt: null,
    });
    await this.making.make(row, progress, async () => {
      await progress.step(`copy of ${name}:${parentVersion}`, 10);
      // What was changed on disk must not become a version of its own.
      await this.store.checkAtLaunch(recordOf(parent));
      const staging = await this.store.stageCopyOf(parent);
      try {
        progress.signal.throwIfAborted();
        await this.store.place(staging, row);
      } finally {
        await staging.discard();
      }
      return { state: 'unfrozen' };
    });
  }
}
