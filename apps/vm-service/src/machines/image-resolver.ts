import { isDeepStrictEqual } from 'node:util';
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

/** Answers that are remembered; a node starts machines of some images in some versions. */
const MAX_EXPECTED = 64;

/** Asks image-service which version to start, and checks this node's copy of it against the record. */
@Injectable()
export class ImageResolver {
  /** What image-service answered last, by question. */
  private readonly expected = new Map<string, ResolvedImage>();

  constructor(
    private readonly rpc: RpcClient,
    @Inject(ImageStore) private readonly store: ImageStore,
  ) {}

  /**
   * Throws what image-service answers (`IMAGE_UNKNOWN`, `IMAGE_NOT_FROZEN`, `IMAGE_UNFROZEN`), and `IMAGE_CHANGED`
   * when a file is not the one that was frozen or has no record; only a smoke boot and maintenance may do without records. Takes
   * constant time whatever the size of the disk.
   *
   * Only the answer counts. What is expected to be answered is looked at while the question is on its way.
   */
  async resolve(name: string, version: number | null, purpose: ResolvePurpose): Promise<LaunchableImage> {
    const question = { name, version, purpose };
    const key = JSON.stringify(question);
    const expected = this.expected.get(key);
    const early = expected === undefined ? null : this.examine(expected, purpose);
    early?.catch(() => undefined);
    const image = await this.rpc.call(imageOps.resolve, question);
    this.expect(key, image);
    const isExpected = isDeepStrictEqual(image, expected);
    const files = await (early !== null && isExpected ? early : this.examine(image, purpose));
    return { image, files, isWritable: purpose === 'maintenance' };
  }

  private expect(key: string, image: ResolvedImage): void {
    this.expected.delete(key);
    this.expected.set(key, image);
    const [oldest] = this.expected.keys();
    if (this.expected.size > MAX_EXPECTED && oldest !== undefined) this.expected.delete(oldest);
  }

  private async examine(image: ResolvedImage, purpose: ResolvePurpose): Promise<BootFiles> {
    const { name, version } = image;
    const checked = purpose === 'session' ? this.check(image) : Promise.resolve();
    const located = this.store.locate({ name, version });
    // Of two failures that of the check says more.
    located.catch(() => undefined);
    await checked;
    return located;
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
