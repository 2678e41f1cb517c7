import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import {
  imageError,
  type ImageList,
  type ImageLogView,
  type ImageState,
  type ImageView,
  type ResolvedImage,
  type ResolveImageRequest,
  type SmokeCheckView,
} from '@inquest/contracts-image';
import type { OperationView } from '@inquest/contracts-shared';
import { isDomainError, toDomainError } from '@inquest/kernel';
import { ImageStore, recordedFiles, type VersionRecord } from '@inquest/image-store';
import { OperationsService, type OperationProgress } from '../operations/operations.service';
import type { Recipe } from '../recipes/recipe';
import { RecipesService } from '../recipes/recipes.service';
import { SmokeGate } from '../smoke/smoke-gate';
import { ImageBuilder } from './image-builder';
import type { ImageVersionEntity } from './image-version.entity';
import { ImageVersionsRepository, imageVersionView } from './image-versions.repository';
import { VersionLog } from './version-log';

/** States a version can be frozen from: built, or proven and then interrupted. */
const FREEZABLE: readonly ImageState[] = ['built', 'smoke_ok'];
/** The file whose digest names a version. */
const DISK_FILE = /^disk\./;

/** The life of image versions: built, proven by the smoke gate, frozen, verified. */
@Injectable()
export class ImagesService implements OnApplicationBootstrap {
  private readonly log = new Logger(ImagesService.name);

  constructor(
    private readonly versions: ImageVersionsRepository,
    private readonly recipes: RecipesService,
    private readonly operations: OperationsService,
    private readonly builder: ImageBuilder,
    private readonly smoke: SmokeGate,
    @Inject(ImageStore) private readonly store: ImageStore,
    private readonly logs: VersionLog,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.operations.failInterrupted();
    await this.versions.failInterrupted();
    const leftovers = await this.store.removeStagingLeftovers();
    if (leftovers > 0) this.log.warn(`removed ${leftovers} half-made version(s) of an earlier life`);
  }

  /** Images that have versions or a recipe. */
  async list(): Promise<ImageList> {
    const rows = await this.versions.all();
    const names = [...new Set([...(await this.recipes.names()), ...rows.map(({ name }) => name)])].sort();
    const items = names.map((name) =>
      this.view(
        name,
        rows.filter((row) => row.name === name),
      ),
    );
    return { items: await Promise.all(items) };
  }

  /** Throws `IMAGE_UNKNOWN`. */
  async show(name: string): Promise<ImageView> {
    const rows = await this.versions.of(name);
    if (rows.length === 0 && !(await this.recipes.names()).includes(name)) throw unknown(name);
    return this.view(name, rows);
  }

  readLog(name: string, version: number, fromOffset: number): Promise<ImageLogView> {
    return this.logs.read(name, version, fromOffset);
  }

  /** Builds the next version of a recipe. Throws `IMAGE_RECIPE_UNKNOWN`, `IMAGE_BUSY`; the rest is in the operation. */
  async build(name: string): Promise<OperationView> {
    const recipe = await this.recipes.get(name);
    const newest = (await this.versions.of(name))[0]?.version ?? 0;
    const version = newest + 1;
    return this.operations.begin('image.build', name, version, (progress) => this.buildNow(recipe, version, progress));
  }

  /** Proves and freezes a built version. Throws `IMAGE_UNKNOWN`, `IMAGE_STATE_WRONG`, `IMAGE_BUSY`. */
  async freeze(name: string, version: number | null): Promise<OperationView> {
    const row = await this.choose(name, version, FREEZABLE, 'frozen');
    const recipe = await this.recipes.get(name);
    return this.operations.begin('image.freeze', name, row.version, (progress) =>
      this.freezeNow(recipe, row, progress),
    );
  }

  /** Re-hashes every file of a frozen version. A mismatch fails the operation, naming both digests. */
  async verify(name: string, version: number | null): Promise<OperationView> {
    const row = await this.choose(name, version, ['frozen'], 'verified');
    return this.operations.begin('image.verify', name, row.version, async (progress) => {
      await progress.step('read every file again', 5);
      await this.store.verifyFully(await this.store.readRecord(row), progress.signal);
      await this.versions.change(row, progress.operationId, { verifiedAt: new Date() });
    });
  }

  /** What a machine may start from. Throws `IMAGE_UNKNOWN`, `IMAGE_NOT_FROZEN`, `IMAGE_UNFROZEN`. */
  async resolve({ name, version, purpose }: ResolveImageRequest): Promise<ResolvedImage> {
    const recipe = await this.recipes.get(name).catch(() => null);
    const row = purpose === 'smoke' ? await this.versions.get(name, version ?? 0) : await this.startable(name, version);
    return {
      name,
      version: row.version,
      files: purpose === 'smoke' ? [] : row.sealedFiles,
      kernelArguments: recipe?.kernelArguments ?? [],
      defaultMemoryMib: recipe?.memoryMib ?? 256,
      hasScreen: recipe?.hasScreen ?? false,
    };
  }

  private async startable(name: string, version: number | null): Promise<ImageVersionEntity> {
    const rows = await this.versions.of(name);
    if (version !== null) return this.pinned(rows, name, version);
    if (rows.some(({ state }) => state === 'unfrozen')) {
      throw imageError('IMAGE_UNFROZEN', `image ${name} is unfrozen; freeze it in the maintenance app`, {
        image: name,
      });
    }
    const frozen = rows.find(({ state }) => state === 'frozen');
    if (frozen) return frozen;
    if (rows.length > 0) {
      throw imageError('IMAGE_NOT_FROZEN', `image ${name} has no frozen version (newest: ${rows[0]?.state})`, {
        image: name,
      });
    }
    throw unknown(name);
  }

  private pinned(rows: readonly ImageVersionEntity[], name: string, version: number): ImageVersionEntity {
    const row = rows.find((candidate) => candidate.version === version);
    if (!row) throw imageError('IMAGE_UNKNOWN', `image ${name} has no version ${version}`, { image: name, version });
    if (row.state === 'frozen') return row;
    throw imageError('IMAGE_NOT_FROZEN', `image ${name}:${version} is ${row.state}, not frozen`, {
      image: name,
      version,
    });
  }

  private async choose(
    name: string,
    version: number | null,
    states: readonly ImageState[],
    wanted: string,
  ): Promise<ImageVersionEntity> {
    const rows = await this.versions.of(name);
    const row =
      version === null ? rows.find(({ state }) => states.includes(state)) : await this.versions.get(name, version);
    if (row && states.includes(row.state)) return row;
    if (rows.length === 0) throw unknown(name);
    const found = row ? `${name}:${row.version} is ${row.state}` : `no version of ${name} is ${states.join(' or ')}`;
    throw imageError('IMAGE_STATE_WRONG', `${found}, so it cannot be ${wanted}`, { image: name });
  }

  private async buildNow(recipe: Recipe, version: number, progress: OperationProgress): Promise<void> {
    const { name } = recipe;
    const recipeDigest = await this.recipes.digest(name);
    await this.versions.insert(newVersion(name, version, recipeDigest));
    try {
      const parts = await this.builder.build(recipe, version, progress);
      const sizeBytes = String(recipe.sizeBytes);
      await this.versions.change({ name, version }, progress.operationId, {
        state: 'built',
        message: 'built',
        sizeBytes,
        ...parts,
      });
    } catch (e) {
      await this.fail({ name, version }, progress, e);
      throw e;
    }
  }

  private async freezeNow(recipe: Recipe, row: ImageVersionEntity, progress: OperationProgress): Promise<void> {
    try {
      if (row.state === 'built') await this.prove(recipe, row, progress);
      await progress.step('checksum', 90);
      const sealed = await this.sealOnce(row, progress);
      const sealedFiles = recordedFiles(sealed).map(([file, record]) => ({ file, ...record }));
      const disk = sealedFiles.find(({ file }) => DISK_FILE.test(file));
      await this.versions.change(row, progress.operationId, {
        state: 'frozen',
        message: 'frozen',
        sealedFiles,
        digest: disk?.digest ?? null,
        sizeBytes: disk === undefined ? null : String(disk.sizeBytes),
        frozenAt: new Date(),
        verifiedAt: new Date(),
      });
    } catch (e) {
      if (isDomainError(e) && e.code === 'IMAGE_SMOKE_FAILED') await this.fail(row, progress, e);
      throw e;
    }
  }

  private async prove(recipe: Recipe, row: ImageVersionEntity, progress: OperationProgress): Promise<void> {
    const checks: SmokeCheckView[] = [];
    await this.smoke.run(recipe, row.version, progress, async (check) => {
      checks.push(check);
      await this.logs.append(row.name, row.version, `check ${check.outcome}: ${check.name} (${check.detail})\n`);
      await this.versions.change(row, progress.operationId, { checks });
    });
    await this.versions.change(row, progress.operationId, { state: 'smoke_ok', message: 'all smoke checks passed' });
  }

  /** A kill between the seal and the row leaves a sealed version: its record is then taken as it is. */
  private async sealOnce(row: ImageVersionEntity, progress: OperationProgress): Promise<VersionRecord> {
    try {
      return await this.store.seal(row, progress.signal);
    } catch (e) {
      if (!isDomainError(e) || e.code !== 'IMAGE_VERSION_SEALED') throw e;
      const record = await this.store.readRecord(row);
      await this.store.verifyFully(record, progress.signal);
      return record;
    }
  }

  private async fail(
    row: Pick<ImageVersionEntity, 'name' | 'version'>,
    progress: OperationProgress,
    e: unknown,
  ): Promise<void> {
    const { message } = toDomainError(e);
    await this.logs.append(row.name, row.version, `failed: ${message}\n`);
    await this.versions.change(row, progress.operationId, { state: 'failed', message });
  }

  private async view(name: string, rows: readonly ImageVersionEntity[]): Promise<ImageView> {
    const recipe = await this.recipes.get(name).catch(() => null);
    return {
      name,
      description: recipe?.description ?? '',
      frozenVersion: rows.find(({ state }) => state === 'frozen')?.version ?? null,
      isUnfrozen: rows.some(({ state }) => state === 'unfrozen'),
      versions: rows.slice(0, 200).map(imageVersionView),
    };
  }
}

const unknown = (name: string) =>
  imageError(
    'IMAGE_UNKNOWN',
    `no image "${name}" is known; \`vmctl image build ${name}\` builds it if it has a recipe`,
    {
      image: name,
    },
  );

const newVersion = (name: string, version: number, recipeDigest: string): ImageVersionEntity => ({
  name,
  version,
  state: 'building',
  message: 'being built',
  digest: null,
  sizeBytes: null,
  recipeDigest,
  kernelVersion: '',
  agentVersion: '',
  parentVersion: version > 1 ? version - 1 : null,
  checks: [],
  sealedFiles: [],
  createdAt: new Date(),
  frozenAt: null,
  verifiedAt: null,
});
