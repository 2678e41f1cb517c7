import { rm } from 'node:fs/promises';
import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import {
  imageError,
  type ImageList,
  type ImageLogView,
  type ImageState,
  type ImageView,
  type ResolvedImage,
  type ResolvePurpose,
  type ResolveImageRequest,
} from '@inquest/contracts-image';
import { assertNever } from '@inquest/kernel';
import { ImageStore } from '@inquest/image-store';
import { OperationsService } from '../operations/operations.service';
import { RecipesService } from '../recipes/recipes.service';
import { ToolPaths } from '../recipes/tool-paths';
import { SmokeMachines } from '../smoke/smoke-machines';
import { imageChanged, imageUnknown } from './image-refusals';
import { VersionTemplates } from '../templates/version-templates';
import type { ImageVersionEntity } from './image-version.entity';
import { BuildDirectories } from './build-directories';
import { ImageVersionsRepository, imageVersionView } from './image-versions.repository';
import { VersionLog } from './version-log';
import { WorkingCopies } from './working-copies';

/** Versions that one image shows, newest first; in a listing of all images fewer, and without their checks. */
const SHOWN_VERSIONS = 200;
const LISTED_VERSIONS = 20;
/** States in which the files of a version are complete, so that the smoke gate can boot them. */
const BOOTABLE: readonly ImageState[] = ['built', 'smoke_ok', 'frozen', 'unfrozen'];

/** Images as their callers see them, and what a machine may start from. */
@Injectable()
export class ImagesService implements OnApplicationBootstrap {
  private readonly log = new Logger(ImagesService.name);

  constructor(
    private readonly versions: ImageVersionsRepository,
    private readonly recipes: RecipesService,
    private readonly operations: OperationsService,
    private readonly smokeMachines: SmokeMachines,
    @Inject(ImageStore) private readonly store: ImageStore,
    private readonly logs: VersionLog,
    private readonly copies: WorkingCopies,
    private readonly tools: ToolPaths,
    private readonly buildDirectories: BuildDirectories,
    private readonly templates: VersionTemplates,
  ) {}

  /** Tidies up after an earlier life that was killed: rows, staged files, and machines as soon as a node answers. */
  async onApplicationBootstrap(): Promise<void> {
    const interrupted = await this.operations.failInterrupted();
    await this.versions.failInterrupted();
    const leftovers = await this.store.removeStagingLeftovers();
    if (leftovers > 0) this.log.warn(`removed ${leftovers} half-made version(s) of an earlier life`);
    await rm(this.tools.workRoot, { recursive: true, force: true });
    await this.buildDirectories.beginRemovingLeftovers();
    void this.smokeMachines.removeLeftovers(interrupted);
  }

  /** Images that have versions or a recipe. */
  async list(): Promise<ImageList> {
    const rows = await this.versions.all();
    const names = [...new Set([...(await this.recipes.names()), ...rows.map(({ name }) => name)])].sort();
    const views = names.map((name) =>
      this.view(
        name,
        rows.filter((row) => row.name === name),
      ),
    );
    return { items: (await Promise.all(views)).map(listedView) };
  }

  /** Throws `IMAGE_UNKNOWN`. */
  async show(name: string): Promise<ImageView> {
    const rows = await this.versions.of(name);
    if (rows.length === 0 && !(await this.recipes.names()).includes(name)) throw imageUnknown(name);
    const view = await this.view(name, rows);
    const frozen = rows.find(({ version }) => version === view.frozenVersion);
    return frozen === undefined ? view : { ...view, templates: await this.templates.statesOf(frozen) };
  }

  /** Part of the build and smoke log of a version. Throws `IMAGE_UNKNOWN`. */
  async readLog(name: string, version: number, fromOffset: number): Promise<ImageLogView> {
    await this.versions.get(name, version);
    return this.logs.read(name, version, fromOffset);
  }

  /**
   * What a machine may start from. Throws `IMAGE_UNKNOWN`, `IMAGE_NOT_FROZEN`, `IMAGE_UNFROZEN`, `IMAGE_CHANGED` when a
   * verify found that it is not what was frozen, `IMAGE_STATE_WRONG` for a smoke boot of a version whose files are not
   * complete, and what `WorkingCopies.open` throws for maintenance.
   */
  async resolve({ name, version, purpose }: ResolveImageRequest): Promise<ResolvedImage> {
    const row = await this.chooseFor(purpose, name, version);
    return {
      name,
      version: row.version,
      // Only what is frozen has a record to be compared with.
      files: purpose === 'session' ? row.sealedFiles : [],
      kernelArguments: row.kernelArguments,
      defaultMemoryMib: row.defaultMemoryMib,
      hasScreen: row.hasScreen,
    };
  }

  private chooseFor(purpose: ResolvePurpose, name: string, version: number | null): Promise<ImageVersionEntity> {
    switch (purpose) {
      case 'session':
        return this.startable(name, version);
      case 'smoke':
        return this.bootable(name, version);
      case 'maintenance':
        return this.copies.open(name, version);
      default:
        return assertNever(purpose);
    }
  }

  private async bootable(name: string, version: number | null): Promise<ImageVersionEntity> {
    if (version === null) throw imageError('IMAGE_UNKNOWN', 'a smoke boot names its version', { image: name });
    const row = await this.versions.get(name, version);
    if (BOOTABLE.includes(row.state)) return row;
    throw imageError('IMAGE_STATE_WRONG', `${name}:${version} is ${row.state}, so it cannot be booted`, {
      image: name,
      version,
    });
  }

  private async startable(name: string, version: number | null): Promise<ImageVersionEntity> {
    const rows = await this.versions.of(name);
    if (version !== null) return pinned(rows, name, version);
    if (rows.some(({ state }) => state === 'unfrozen')) {
      throw imageError('IMAGE_UNFROZEN', `image ${name} is unfrozen; freeze it in the maintenance app`, {
        image: name,
      });
    }
    // Of a version that was found changed, no older one takes the place unasked.
    const newest = rows.find(({ state, frozenAt }) => state === 'frozen' || (state === 'failed' && frozenAt !== null));
    if (newest?.state === 'failed') throw imageChanged(newest);
    if (newest) return newest;
    if (rows.length > 0) {
      throw imageError('IMAGE_NOT_FROZEN', `image ${name} has no frozen version (newest: ${rows[0]?.state})`, {
        image: name,
      });
    }
    throw imageUnknown(name);
  }

  private async view(name: string, rows: readonly ImageVersionEntity[]): Promise<ImageView> {
    // An image stays what it is when its recipe is broken or gone; building it says what is wrong.
    const recipe = await this.recipes.get(name).catch(() => null);
    return {
      name,
      description: recipe?.description ?? rows[0]?.description ?? '',
      frozenVersion: rows.find(({ state }) => state === 'frozen')?.version ?? null,
      isUnfrozen: rows.some(({ state }) => state === 'unfrozen'),
      versions: rows.slice(0, SHOWN_VERSIONS).map(imageVersionView),
      templates: [],
    };
  }
}

const listedView = (image: ImageView): ImageView => ({
  ...image,
  versions: image.versions.slice(0, LISTED_VERSIONS).map((version) => ({ ...version, checks: [] })),
});

function pinned(rows: readonly ImageVersionEntity[], name: string, version: number): ImageVersionEntity {
  const row = rows.find((candidate) => candidate.version === version);
  if (!row) throw imageError('IMAGE_UNKNOWN', `image ${name} has no version ${version}`, { image: name, version });
  if (row.state === 'frozen') return row;
  if (row.state === 'failed' && row.frozenAt !== null) throw imageChanged(row);
  throw imageError('IMAGE_NOT_FROZEN', `image ${name}:${version} is ${row.state}, not frozen`, {
    image: name,
    version,
  });
}
