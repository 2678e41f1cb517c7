import { Injectable } from '@nestjs/common';
import { DataSource, LessThan, type Repository } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity';
import { imageError, imageEvents, type ImageState, type ImageVersionView } from '@inquest/contracts-image';
import type { OperationId } from '@inquest/kernel';
import { EntityStatements, Outbox } from '@inquest/persistence';
import { ImageVersionEntity } from './image-version.entity';

/** SQLSTATE unique_violation. */
const UNIQUE_VIOLATION = '23505';

/** Rows of image versions. A change and its event are one transaction. */
@Injectable()
export class ImageVersionsRepository {
  private readonly rows: Repository<ImageVersionEntity>;
  private readonly statements: EntityStatements<ImageVersionEntity>;

  constructor(
    private readonly database: DataSource,
    private readonly outbox: Outbox,
  ) {
    this.rows = database.getRepository(ImageVersionEntity);
    this.statements = new EntityStatements(database, ImageVersionEntity);
  }

  /** All versions of all images, newest version first. */
  all(): Promise<ImageVersionEntity[]> {
    return this.rows.find({ order: { name: 'ASC', version: 'DESC' } });
  }

  /** Versions of one image, newest first. */
  of(name: string): Promise<ImageVersionEntity[]> {
    return this.statements.find({ name }, 'ORDER BY "version" DESC');
  }

  /** Throws `IMAGE_UNKNOWN`. */
  async get(name: string, version: number): Promise<ImageVersionEntity> {
    const row = await this.rows.findOneBy({ name, version });
    if (row === null)
      throw imageError('IMAGE_UNKNOWN', `image ${name} has no version ${version}`, { image: name, version });
    return row;
  }

  /** The frozen version that was not verified for the longest time, if that was before `since`; else null. */
  longestUnverified(since: Date): Promise<ImageVersionEntity | null> {
    return this.rows.findOne({ where: { state: 'frozen', verifiedAt: LessThan(since) }, order: { verifiedAt: 'ASC' } });
  }

  /** A number that no version of the image has had. */
  async nextNumber(name: string): Promise<number> {
    return ((await this.of(name))[0]?.version ?? 0) + 1;
  }

  /** Throws `IMAGE_BUSY` when the number was taken meanwhile. */
  async insert(row: ImageVersionEntity): Promise<void> {
    await this.rows.insert(row).catch((e: unknown) => {
      if ((e as { code?: unknown }).code !== UNIQUE_VIOLATION) throw e;
      throw imageError('IMAGE_BUSY', `another operation has just made ${row.name}:${row.version}; ask again`, {
        image: row.name,
        operation: null,
      });
    });
  }

  /** Changes a version; watchers are told. */
  async change(
    { name, version }: Pick<ImageVersionEntity, 'name' | 'version'>,
    operationId: OperationId,
    change: QueryDeepPartialEntity<ImageVersionEntity>,
  ): Promise<void> {
    await this.database.transaction(async (manager) => {
      await manager.update(ImageVersionEntity, { name, version }, change);
      const row = await manager.findOneByOrFail(ImageVersionEntity, { name, version });
      const body = { version: imageVersionView(row), operationId, atMs: Date.now() };
      await this.outbox.add(manager, imageEvents.changed, [name], body);
    });
  }

  /** Versions that an earlier life of this service left half built. */
  async failInterrupted(): Promise<void> {
    const message = 'image-service stopped while this version was being built';
    await this.rows.update({ state: 'building' }, { state: 'failed' satisfies ImageState, message });
  }
}

export const imageVersionView = (row: ImageVersionEntity): ImageVersionView => ({
  name: row.name,
  version: row.version,
  state: row.state,
  message: row.message,
  digest: row.digest,
  sizeBytes: row.sizeBytes === null ? null : Number(row.sizeBytes),
  origin: row.origin,
  recipeDigest: row.recipeDigest,
  sourceDigest: row.sourceDigest,
  kernelVersion: row.kernelVersion,
  agentVersion: row.agentVersion,
  parentVersion: row.parentVersion,
  checks: row.checks,
  smokeMs: row.smokeMs,
  templateMs: row.templateMs,
  isRemoved: row.isRemoved,
  createdAtMs: row.createdAt.getTime(),
  frozenAtMs: row.frozenAt?.getTime() ?? null,
  verifiedAtMs: row.verifiedAt?.getTime() ?? null,
});
