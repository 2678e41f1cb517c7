import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource, type Repository } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity';
import { imageError } from '@inquest/contracts-image';
import type { OperationRequest, OperationView } from '@inquest/contracts-shared';
import { isDomainError, newId, StateWaiters, toDomainError, type OperationId } from '@inquest/kernel';
import { OperationEntity } from './operation.entity';

/** SQLSTATE unique_violation. */
const UNIQUE_VIOLATION = '23505';

/** What an operation may say about itself while it works. */
export interface OperationProgress {
  /** A step began; `percent` of the whole is done. */
  step(step: string, percent: number): Promise<void>;
  readonly operationId: OperationId;
  readonly signal: AbortSignal;
}

/** Long work on images: one operation at a time per image, watched by id, cancelled by signal. */
@Injectable()
export class OperationsService implements OnApplicationShutdown {
  private readonly log = new Logger(OperationsService.name);
  private readonly rows: Repository<OperationEntity>;
  private readonly waiters = new StateWaiters();
  private readonly stopping = new AbortController();
  private readonly running = new Set<Promise<void>>();

  constructor(database: DataSource) {
    this.rows = database.getRepository(OperationEntity);
  }

  /**
   * Accepts an operation and does its work in the background. Throws `IMAGE_BUSY`, naming the operation that is at
   * work on the same image.
   */
  async begin(
    kind: string,
    image: string,
    version: number | null,
    work: (progress: OperationProgress) => Promise<void>,
  ): Promise<OperationView> {
    const row: OperationEntity = {
      operationId: newId<OperationId>('op'),
      kind,
      image,
      imageVersion: version,
      state: 'running',
      step: 'accepted',
      percent: 0,
      error: null,
      startedAt: new Date(),
      endedAt: null,
    };
    await this.insert(row);
    const task = this.work(row, work).finally(() => this.running.delete(task));
    this.running.add(task);
    return operationView(row);
  }

  /**
   * The operation once it has ended, is at another step than `knownStep`, or as it is after `waitMs`. Throws
   * `OPERATION_UNKNOWN`.
   */
  async show({ operationId, waitMs, knownStep }: OperationRequest): Promise<OperationView> {
    const operation = operationId as OperationId;
    const row = await this.waiters.wait(
      operation,
      () => this.get(operation),
      ({ state, step }) => state !== 'running' || (knownStep !== null && step !== knownStep),
      waitMs,
    );
    return operationView(row);
  }

  /** Marks what an earlier life of this service was doing as failed. Called before anything new begins. */
  async failInterrupted(): Promise<void> {
    const error = imageError('IMAGE_BUILD_FAILED', 'image-service stopped while it was at work').toBody();
    await this.rows.update({ state: 'running' }, { state: 'failed', error, endedAt: new Date() });
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort(new Error('image-service is stopping'));
    await Promise.allSettled([...this.running]);
  }

  private async insert(row: OperationEntity): Promise<void> {
    try {
      await this.rows.insert(row);
    } catch (e) {
      if ((e as { code?: string }).code !== UNIQUE_VIOLATION) throw e;
      const other = await this.rows.findOneBy({ image: row.image, state: 'running' });
      throw imageError('IMAGE_BUSY', `${other?.kind ?? 'another operation'} is at work on image ${row.image}`, {
        image: row.image,
        operation: other?.operationId ?? null,
      });
    }
  }

  private async work(row: OperationEntity, work: (progress: OperationProgress) => Promise<void>): Promise<void> {
    const id = row.operationId as OperationId;
    const progress: OperationProgress = {
      operationId: id,
      signal: this.stopping.signal,
      step: (step, percent) => this.change(id, { step, percent }),
    };
    try {
      await work(progress);
      await this.change(id, { state: 'succeeded', step: 'done', percent: 100, endedAt: new Date() });
    } catch (e) {
      if (!isDomainError(e)) this.log.error(`${row.kind} of ${row.image} failed unexpectedly`, e);
      const state = this.stopping.signal.aborted ? 'cancelled' : 'failed';
      await this.change(id, { state, error: toDomainError(e).toBody(), endedAt: new Date() }).catch((late: unknown) =>
        this.log.error(`the end of operation ${id} could not be recorded`, late),
      );
    }
  }

  private async change(operation: OperationId, change: QueryDeepPartialEntity<OperationEntity>): Promise<void> {
    await this.rows.update({ operationId: operation }, change);
    this.waiters.notify(operation);
  }

  private async get(operation: OperationId): Promise<OperationEntity> {
    const row = await this.rows.findOneBy({ operationId: operation });
    if (row === null) throw imageError('OPERATION_UNKNOWN', `no operation ${operation} is known`, { operation });
    return row;
  }
}

const operationView = (row: OperationEntity): OperationView => ({
  operationId: row.operationId,
  kind: row.kind,
  subject: row.imageVersion === null ? row.image : `${row.image}:${row.imageVersion}`,
  state: row.state,
  step: row.step,
  percent: row.percent,
  error: row.error,
  startedAtMs: row.startedAt.getTime(),
  endedAtMs: row.endedAt?.getTime() ?? null,
});
