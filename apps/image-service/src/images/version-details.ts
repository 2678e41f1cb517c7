import { Inject, Injectable } from '@nestjs/common';
import type { ImageVersionDetail } from '@inquest/contracts-image';
import { hasCode } from '@inquest/kernel';
import { ImageStore } from '@inquest/image-store';
import { VersionTemplates } from '../templates/version-templates';
import type { ImageVersionEntity } from './image-version.entity';
import { ImageVersionsRepository, imageVersionView } from './image-versions.repository';
import { VersionUsers } from './version-users';

/** Everything about one version: lineage, users, disk use. */
@Injectable()
export class VersionDetails {
  constructor(
    private readonly versions: ImageVersionsRepository,
    private readonly users: VersionUsers,
    private readonly templates: VersionTemplates,
    @Inject(ImageStore) private readonly store: ImageStore,
  ) {}

  /** Throws `IMAGE_UNKNOWN`. */
  async show(name: string, version: number): Promise<ImageVersionDetail> {
    const rows = await this.versions.of(name);
    const row = await this.versions.get(name, version);
    const [machines, children, diskUseBytes, templates] = await Promise.all([
      this.users.machinesOn(row),
      this.users.childrenOf(row),
      this.diskUseOf(row),
      row.state === 'frozen' ? this.templates.statesOf(row) : [],
    ]);
    return {
      version: imageVersionView(row),
      ancestors: ancestorsOf(row, rows),
      children: children.map((child) => child.version),
      machines,
      diskUseBytes,
      packages: row.packages,
      unfreezeReason: row.unfreezeReason,
      files: row.sealedFiles,
      templates,
    };
  }

  private async diskUseOf(row: ImageVersionEntity): Promise<number> {
    try {
      return await this.store.diskUseBytes(row);
    } catch (e) {
      if (hasCode(e, 'IMAGE_VERSION_MISSING')) return 0;
      throw e;
    }
  }
}

/** The parent first. A parent has a smaller number than its child, so this ends. */
function ancestorsOf({ parentVersion }: ImageVersionEntity, rows: readonly ImageVersionEntity[]): number[] {
  const ancestors: number[] = [];
  for (let next = parentVersion; next !== null;) {
    ancestors.push(next);
    const found = rows.find(({ version }) => version === next)?.parentVersion ?? null;
    next = found !== null && found < next ? found : null;
  }
  return ancestors;
}
