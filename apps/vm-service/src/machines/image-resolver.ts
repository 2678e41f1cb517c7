import { Inject, Injectable } from '@nestjs/common';
import { imageError, imageOps, type ResolvedImage, type ResolvePurpose } from '@inquest/contracts-image';
import { hasCode, isDomainError } from '@inquest/kernel';
import { ImageStore, parseVersionRecord, RECORD_FORMAT_VERSION, type BootFiles } from '@inquest/image-store';
import { RpcClient } from '@inquest/messaging';

/** A version that may be started on this node, and where its files are. */
export interface LaunchableImage {
  readonly image: ResolvedImage;
  readonly files: BootFiles;
  /** It is the open working copy: the machine writes the disk itself. */
  readonly isWritable: boolean;
}

/** Asks image-service which version to start, and checks this node's copy of it against the record. */
@Injectable()
export class ImageResolver {
  constructor(
    private readonly rpc: RpcClient,
    @Inject(ImageStore) private readonly store: ImageStore,
  ) {}

  /**
   * Throws what image-service answers (`IMAGE_UNKNOWN`, `IMAGE_NOT_FROZEN`, `IMAGE_UNFROZEN`), and `IMAGE_CHANGED`
   * when a file is not the one that was frozen or has no record; only a smoke boot and maintenance may do without records. Takes
   * constant time whatever the size of the disk.
   */
  async resolve(name: string, version: number | null, purpose: ResolvePurpose): Promise<LaunchableImage> {
    const image = await this.rpc.call(imageOps.resolve, { name, version, purpose });
    if (purpose === 'session') await this.check(image);
    const files = await this.store.locate({ name: image.name, version: image.version });
    return { image, files, isWritable: purpose === 'maintenance' };
  }

  private async check({ name, version, files }: ResolvedImage): Promise<void> {
    const byName = Object.fromEntries(files.map(({ file, ...record }) => [file, record]));
    const text = JSON.stringify({ formatVersion: RECORD_FORMAT_VERSION, name, version, files: byName });
    try {
      await this.store.checkAtLaunch(parseVersionRecord(text, { name, version }));
    } catch (e) {
      if (!isDomainError(e) || hasCode(e, 'IMAGE_STORE_UNAVAILABLE')) throw e;
      throw imageError(
        'IMAGE_CHANGED',
        `image ${name}:${version} cannot be started: ${e.message}`,
        { image: name, version },
        e,
      );
    }
  }
}
