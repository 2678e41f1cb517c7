import { Inject, Injectable } from '@nestjs/common';
import { imageError, type ImageDiffRequest, type ImageDiffView } from '@inquest/contracts-image';
import { ImageStore } from '@inquest/image-store';
import { ImageVersionsRepository } from '../images/image-versions.repository';
import { withWorkDirectory } from '../import/work-directory';
import { ToolPaths } from '../recipes/tool-paths';
import { compareVersions, type VersionContents } from './compare';
import { listDisk } from './disk-listing';
import { installedPackages } from './installed-packages';

/** Both disks of a comparison, on a busy host. */
const TIMEOUT_MS = 290_000;

/** Compares versions of an image by what is in them. Reads the disks without mounting them. */
@Injectable()
export class ImageDiffService {
  constructor(
    private readonly versions: ImageVersionsRepository,
    private readonly tools: ToolPaths,
    @Inject(ImageStore) private readonly store: ImageStore,
  ) {}

  /** Throws `IMAGE_UNKNOWN`, and `IMAGE_STATE_WRONG` for a version without files. */
  async diff({ name, from, to }: ImageDiffRequest): Promise<ImageDiffView> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const before = await this.contentsOf(name, from, signal);
    return compareVersions(before, await this.contentsOf(name, to, signal));
  }

  private async contentsOf(name: string, version: number, signal: AbortSignal): Promise<VersionContents> {
    const row = await this.versions.get(name, version);
    if (row.isRemoved || row.state === 'building') {
      const what = row.isRemoved ? 'was removed' : 'is still being made';
      throw imageError('IMAGE_STATE_WRONG', `${name}:${version} ${what}, so it cannot be compared`, {
        image: name,
        version,
      });
    }
    const { diskPath } = await this.store.locate(row);
    return withWorkDirectory(this.tools.workRoot, async (workDirectory) => ({
      packages: await installedPackages(diskPath, signal),
      files: await listDisk(diskPath, workDirectory, signal),
    }));
  }
}
