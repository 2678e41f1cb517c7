import { Inject, Injectable } from '@nestjs/common';
import { imageError, type ImageState, type ImageVersionView } from '@inquest/contracts-image';
import { hasCode } from '@inquest/kernel';
import { ImageStore } from '@inquest/image-store';
import { OperationsService } from '../operations/operations.service';
import { VersionTemplates } from '../templates/version-templates';
import type { ImageVersionEntity } from './image-version.entity';
import { ImageVersionsRepository, imageVersionView } from './image-versions.repository';
import { VersionUsers } from './version-users';

/** States whose files may be removed. A frozen version is retired first, so that nothing new starts on it meanwhile. */
const REMOVABLE: readonly ImageState[] = ['built', 'smoke_ok', 'retired', 'failed', 'unfrozen'];

/** The end of versions: retired, then removed. Never while something stands on them. */
@Injectable()
export class VersionEndings {
  constructor(
    private readonly versions: ImageVersionsRepository,
    private readonly operations: OperationsService,
    private readonly users: VersionUsers,
    private readonly templates: VersionTemplates,
    @Inject(ImageStore) private readonly store: ImageStore,
  ) {}

  /**
   * Nothing starts on the version any more; its files stay, its templates go. Throws `IMAGE_UNKNOWN`, `IMAGE_STATE_WRONG` unless it is
   * frozen, `IMAGE_IN_USE`, `IMAGE_BUSY`.
   */
  retire(name: string, version: number): Promise<ImageVersionView> {
    return this.operations.exclusively('image.retire', name, version, async ({ operationId }) => {
      const row = await this.inState(name, version, ['frozen'], 'retired');
      await this.users.requireUnused(row, 'retired');
      await this.versions.change(row, operationId, { state: 'retired', message: 'retired' });
      await this.templates.remove(row);
      return this.view(row);
    });
  }

  /**
   * Removes the files of a version; of an open working copy, this discards it. The row stays: what the version was is
   * known, and its number is never used again. Throws `IMAGE_UNKNOWN`, `IMAGE_STATE_WRONG` while it is frozen or being
   * made, `IMAGE_IN_USE`, `IMAGE_BUSY`. Right to repeat.
   */
  remove(name: string, version: number): Promise<ImageVersionView> {
    return this.operations.exclusively('image.remove', name, version, async ({ operationId }) => {
      const row = await this.inState(name, version, REMOVABLE, 'removed');
      await this.users.requireUnused(row, 'removed');
      const message = row.state === 'unfrozen' ? 'the working copy was discarded' : 'removed';
      // First the row: a kill in between leaves files that nothing starts from, never a version without files.
      await this.versions.change(row, operationId, { state: 'retired', message });
      await this.store.remove(row).catch((e: unknown) => {
        if (!hasCode(e, 'IMAGE_VERSION_MISSING')) throw e;
      });
      await this.versions.change(row, operationId, { isRemoved: true, sealedFiles: [] });
      return this.view(row);
    });
  }

  private async inState(
    name: string,
    version: number,
    states: readonly ImageState[],
    wanted: string,
  ): Promise<ImageVersionEntity> {
    const row = await this.versions.get(name, version);
    if (states.includes(row.state)) return row;
    const advice = row.state === 'frozen' ? '; retire it first' : '';
    const message = `${name}:${version} is ${row.state}, so it cannot be ${wanted}${advice}`;
    throw imageError('IMAGE_STATE_WRONG', message, { image: name, version, state: row.state });
  }

  private async view({ name, version }: ImageVersionEntity): Promise<ImageVersionView> {
    return imageVersionView(await this.versions.get(name, version));
  }
}
