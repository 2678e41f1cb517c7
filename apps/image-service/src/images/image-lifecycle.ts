import { Inject, Injectable } from '@nestjs/common';
import { imageError, type ImageState, type SmokeCheckView } from '@inquest/contracts-image';
import type { OperationView } from '@inquest/contracts-base';
import { hasCode, isDomainError, toDomainError } from '@inquest/kernel';
import { ImageStore, recordedFiles, type VersionRecord } from '@inquest/image-store';
import { installedPackages } from '../diff/installed-packages';
import { OperationsService, type OperationProgress } from '../operations/operations.service';
import type { Recipe } from '../recipes/recipe';
import { RecipesService } from '../recipes/recipes.service';
import { SmokeGate } from '../smoke/smoke-gate';
import { ImageBuilder } from './image-builder';
import { TEMPLATE_OPERATION, TemplateUpkeep } from '../templates/template-upkeep';
import { VersionTemplates } from '../templates/version-templates';
import { imageUnknown } from './image-refusals';
import type { ImageVersionEntity } from './image-version.entity';
import { ImageVersionsRepository } from './image-versions.repository';
import { recordOf } from './sealed-record';
import { VersionLog } from './version-log';
import { newVersion, settingsOf, VersionMaking } from './version-making';
import { VersionUsers } from './version-users';
import { WorkingCopies } from './working-copies';

/** States a version can be frozen from: built, proven and then interrupted, or the open working copy. */
const FREEZABLE: readonly ImageState[] = ['built', 'smoke_ok', 'unfrozen'];
/** The file whose digest names a version. */
const DISK_FILE = /^disk\./;
/** What `verifyFully` says of a version that is not what was frozen; other failures say nothing of it. */
const CHANGED: readonly string[] = [
  'IMAGE_DIGEST_MISMATCH',
  'IMAGE_FILE_CHANGED',
  'IMAGE_FILE_MISSING',
  'IMAGE_FILE_UNEXPECTED',
  'IMAGE_VERSION_MISSING',
];

/** What changes image versions, each as an operation: build, freeze behind the smoke gate, verify. */
@Injectable()
export class ImageLifecycle {
  constructor(
    private readonly versions: ImageVersionsRepository,
    private readonly recipes: RecipesService,
    private readonly operations: OperationsService,
    private readonly builder: ImageBuilder,
    private readonly smoke: SmokeGate,
    @Inject(ImageStore) private readonly store: ImageStore,
    private readonly logs: VersionLog,
    private readonly making: VersionMaking,
    private readonly copies: WorkingCopies,
    private readonly users: VersionUsers,
    private readonly templates: VersionTemplates,
    private readonly upkeep: TemplateUpkeep,
  ) {}

  /** Builds the next version of a recipe. Throws `IMAGE_RECIPE_*`, `IMAGE_BUSY`; the rest is in the operation. */
  async build(name: string): Promise<OperationView> {
    const recipe = await this.recipes.get(name);
    const version = await this.versions.nextNumber(name);
    return this.operations.begin('image.build', name, version, (progress) => this.buildNow(recipe, version, progress));
  }

  /**
   * Proves and freezes a version that was made, or the open working copy. Throws `IMAGE_UNKNOWN`, `IMAGE_STATE_WRONG`,
   * `IMAGE_BUSY`; the operation fails with `IMAGE_IN_USE` while a maintenance machine writes the copy.
   */
  async freeze(name: string, wanted: number | null): Promise<OperationView> {
    const { version } = await this.choose(name, wanted, FREEZABLE, 'frozen');
    return this.operations.begin('image.freeze', name, version, async (progress) => {
      // Read anew: an operation that has just ended may have frozen it.
      const row = await this.choose(name, version, FREEZABLE, 'frozen');
      await this.freezeNow(row, progress);
    });
  }

  /**
   * Re-hashes every file of a frozen version. A version that is not what was frozen fails the operation, naming both
   * digests, and is `failed` from then on: nothing starts on it any more.
   */
  async verify(name: string, version: number | null): Promise<OperationView> {
    const row = await this.choose(name, version, ['frozen'], 'verified');
    return this.operations.begin('image.verify', name, row.version, async (progress) => {
      await progress.step('read every file again', 5);
      try {
        await this.store.verifyFully(recordOf(row), progress.signal);
      } catch (e) {
        if (isDomainError(e) && CHANGED.includes(e.code)) await this.making.fail(row, progress, e);
        throw e;
      }
      await this.versions.change(row, progress.operationId, { verifiedAt: new Date() });
    });
  }

  /** Has every node make the template of a frozen version that it does not have. Throws as `verify` does. */
  async makeTemplate(name: string, version: number | null): Promise<OperationView> {
    const row = await this.choose(name, version, ['frozen'], 'given a template');
    return this.operations.begin(TEMPLATE_OPERATION, name, row.version, async (progress) => {
      await this.templates.remake(row, progress);
      this.upkeep.noteMade(row);
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
    if (rows.length === 0) throw imageUnknown(name);
    const found = row ? `${name}:${row.version} is ${row.state}` : `no version of ${name} is ${states.join(' or ')}`;
    throw imageError('IMAGE_STATE_WRONG', `${found}, so it cannot be ${wanted}`, { image: name });
  }

  private async buildNow(recipe: Recipe, version: number, progress: OperationProgress): Promise<void> {
    const { name } = recipe;
    const row = newVersion({
      name,
      version,
      origin: 'recipe',
      message: 'being built',
      recipeDigest: await this.recipes.digest(recipe),
      ...settingsOf(recipe),
    });
    await this.making.make(row, progress, async () => {
      const parts = await this.builder.build(recipe, { name, version, progress });
      return { state: 'built', message: 'built', ...parts };
    });
  }

  private async freezeNow(row: ImageVersionEntity, progress: OperationProgress): Promise<void> {
    // One that is sealed was on its way when image-service was killed: nobody has written it since.
    if (row.state === 'unfrozen' && !(await this.store.isSealed(row))) {
      await this.users.requireNoMachines(row, 'frozen');
      await this.copies.settle(row, progress);
    }
    if (row.state !== 'smoke_ok') await this.prove(row, progress);
    await progress.step('package list', 85);
    const { diskPath } = await this.store.locate(row);
    const packages = await installedPackages(diskPath, progress.signal);
    await progress.step('checksum', 90);
    const sealed = await this.sealOnce(row, progress);
    await this.logs.append(row.name, row.version, `fs-verity: ${sealed.fsVerity ?? 'unknown'}\n`);
    const sealedFiles = recordedFiles(sealed).map(([file, record]) => ({ file, verityDigest: null, ...record }));
    const disk = sealedFiles.find(({ file }) => DISK_FILE.test(file));
    await this.versions.change(row, progress.operationId, {
      state: 'frozen',
      message: 'frozen',
      sealedFiles,
      packages,
      digest: disk?.digest ?? null,
      sizeBytes: disk === undefined ? null : String(disk.sizeBytes),
      frozenAt: new Date(),
      verifiedAt: new Date(),
    });
    await this.addTemplate(row, progress);
  }

  private async prove(row: ImageVersionEntity, progress: OperationProgress): Promise<void> {
    const checks: SmokeCheckView[] = [];
    const onCheck = async (check: SmokeCheckView): Promise<void> => {
      checks.push(check);
      await this.logs.append(row.name, row.version, `check ${check.outcome}: ${check.name} (${check.detail})\n`);
      await this.versions.change(row, progress.operationId, { checks });
    };
    const elapsedMs = stopwatch();
    try {
      await this.smoke.run(row, progress, onCheck);
    } catch (e) {
      if (hasCode(e, 'IMAGE_SMOKE_FAILED')) await this.disprove(row, progress, e);
      throw e;
    }
    const smokeMs = elapsedMs();
    await this.logs.append(row.name, row.version, `smoke gate passed in ${inSeconds(smokeMs)}\n`);
    // A working copy stays one until it is frozen: sessions must not get its parent unasked meanwhile.
    const proven = { state: 'smoke_ok', message: 'all smoke checks passed', smokeMs } as const;
    await this.versions.change(row, progress.operationId, row.state === 'unfrozen' ? { smokeMs } : proven);
  }

  private async addTemplate(row: ImageVersionEntity, progress: OperationProgress): Promise<void> {
    const elapsedMs = stopwatch();
    const made = await this.templates.make(row, progress);
    if (made === 0) return;
    const templateMs = elapsedMs();
    await this.logs.append(row.name, row.version, `template made in ${inSeconds(templateMs)}\n`);
    await this.versions.change(row, progress.operationId, { templateMs });
  }

  /** A kill between the seal and the row leaves a sealed version: its record is then taken once it is verified. */
  private async sealOnce(row: ImageVersionEntity, progress: OperationProgress): Promise<VersionRecord> {
    try {
      return await this.store.seal(row, progress.signal);
    } catch (e) {
      if (!hasCode(e, 'IMAGE_VERSION_SEALED')) throw e;
      const record = await this.store.readRecord(row);
      await this.store.verifyFully(record, progress.signal);
      return record;
    }
  }

  /** A working copy stays open, so that what the gate found can be mended; anything else is done with. */
  private async disprove(row: ImageVersionEntity, progress: OperationProgress, e: unknown): Promise<void> {
    if (row.state !== 'unfrozen') return this.making.fail(row, progress, e);
    await this.versions.change(row, progress.operationId, { message: `not frozen: ${toDomainError(e).message}` });
  }
}

/** Counts from now; gives whole milliseconds. */
function stopwatch(): () => number {
  const started = performance.now();
  return () => Math.round(performance.now() - started);
}

const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
