import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { DataSource, type Repository } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity';
import { imageError, imageEvents } from '@inquest/contracts-image';
import type { OperationRequest, OperationView } from '@inquest/contracts-base';
import {
  isDomainError,
  kernelError,
  newId,
  StateWaiters,
  toDomainError,
  withDeadline,
  type OperationId,
} from '@inquest/kernel';
import { Outbox, untilStored } from '@inquest/persistence';
import { OperationEntity } from './operation.entity';

/** SQLSTATE unique_violation. */
const UNIQUE_VIOLATION = '23505';
/** A service must be gone 10 s after SIGTERM; requests are drained in the rest of that. */
const STOP_TIMEOUT_MS = 4_000;
/** How long a cancel waits for the work to stop before it answers; most steps notice within moments. */
const CANCEL_WAIT_MS = 15_000;
/** `ErrorView.message` takes no more. */
const MAX_MESSAGE_CHARS = 8_192;

/** What an operation may say about itself while it works. */
export interface OperationProgress {
  /** A step began; `percent` of the whole is done. Throws `OPERATION_ABORTED` when the operation is to stop. */
  step(step: string, percent: number): Promise<void>;
  readonly operationId: OperationId;
  /** Aborts when the operation is cancelled, and when the service stops. */
  readonly signal: AbortSignal;
}

/** An operation that is at work in this process. */
interface RunningOperation {
  readonly cancel: AbortController;
  /** Never rejects. */
  readonly done: Promise<void>;
}

/** Long work on images: one operation at a time per image, watched by id, cancelled on request and when the service stops. */
@Injectable()
export class OperationsService implements BeforeApplicationShutdown {
  private readonly log = new Logger(OperationsService.name);
  private readonly rows: Repository<OperationEntity>;
  private readonly waiters = new StateWaiters();
  private readonly stopping = new AbortController();
  private readonly running = new Map<OperationId, RunningOperation>();

  constructor(
    private readonly database: DataSource,
    private readonly outbox: Outbox,
  ) {
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
    const id = row.operationId as OperationId;
    const cancel = new AbortController();
    const done = this.work(row, work, cancel.signal).finally(() => this.running.delete(id));
    this.running.set(id, { cancel, done });
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

  /**
   * Short work that shall not meet other work on the same image: done when this resolves. Throws `IMAGE_BUSY` and what
   * the work throws.
   */
  async exclusively<T>(
    kind: string,
    image: string,
    version: number,
    work: (progress: OperationProgress) => Promise<T>,
  ): Promise<T> {
    let outcome: Promise<T> | null = null;
    const { operationId } = await this.begin(kind, image, version, async (progress) => {
      outcome = work(progress);
      await outcome;
    });
    await this.running.get(operationId as OperationId)?.done;
    // The work began when the operation did, so there is an outcome.
    return outcome as unknown as Promise<T>;
  }

  /**
   * Tells an operation to stop and answers when it has, or as it is after `CANCEL_WAIT_MS`. One that has ended already is
   * answered as it is. Throws `OPERATION_UNKNOWN`.
   */
  async cancel(operationId: string): Promise<OperationView> {
    const operation = operationId as OperationId;
    await this.get(operation);
    this.running.get(operation)?.cancel.abort(kernelError('OPERATION_ABORTED', `operation ${operation} was cancelled`));
    return this.show({ operationId, waitMs: CANCEL_WAIT_MS, knownStep: null });
  }

  /** Throws `IMAGE_BUSY`, naming the operation, while one is at work on an image. */
  async requireIdle(image: string): Promise<void> {
    const other = await this.rows.findOneBy({ image, state: 'running' });
    if (other !== null) throw busy(other);
  }

  /**
   * Marks what an earlier life of this service was doing as failed, and gives the ids of these operations. Called before
   * anything new begins.
   */
  async failInterrupted(): Promise<OperationId[]> {
    const interrupted = await this.rows.findBy({ state: 'running' });
    for (const { operationId, kind, image } of interrupted) {
      const error = imageError('OPERATION_INTERRUPTED', `image-service stopped while ${kind} of ${image} was at work`);
      await this.rows.update({ operationId }, { state: 'failed', error: error.toBody(), endedAt: new Date() });
    }
    return interrupted.map(({ operationId }) => operationId as OperationId);
  }

  /** Before requests are drained and connections closed: work that is cancelled still tidies up and records its end. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort(new Error('image-service is stopping'));
    const ends = Promise.all([...this.running.values()].map(({ done }) => done));
    await withDeadline(ends, STOP_TIMEOUT_MS, 'ending the operations').catch((e: unknown) =>
      this.log.error('operations are left to the next start of image-service', e),
    );
  }

  private async insert(row: OperationEntity): Promise<void> {
    try {
      await this.rows.insert(row);
    } catch (e) {
      if ((e as { code?: string }).code !== UNIQUE_VIOLATION) throw e;
      const other = await this.rows.findOneBy({ image: row.image, state: 'running' });
      throw other === null
        ? imageError('IMAGE_BUSY', `another operation is at work on image ${row.image}`)
        : busy(other);
    }
  }

  /** Never rejects. */
  private async work(
    row: OperationEntity,
    work: (progress: OperationProgress) => Promise<void>,
    cancelled: AbortSignal,
  ): Promise<void> {
    const id = row.operationId as OperationId;
    const signal = AbortSignal.any([this.stopping.signal, cancelled]);
    const step = async (name: string, percent: number): Promise<void> => {
      signal.throwIfAborted();
      await this.change(id, { step: name, percent });
    };
    const end = await work({ operationId: id, signal, step }).then(
      () => ({ state: 'succeeded', step: 'done', percent: 100 }) as const,
      (e: unknown) => this.failureOf(row, e, cancelled),
    );
    // Until it is recorded the image stays busy, so a database that is away is waited for.
    await untilStored(() => this.change(id, { ...end, endedAt: new Date() }), {
      signal: this.stopping.signal,
      onRetry: (e) => this.log.warn(`the end of operation ${id} is not recorded yet`, e),
    }).catch((e: unknown) => this.log.error(`the end of operation ${id} could not be recorded`, e));
  }

  private failureOf(row: OperationEntity, e: unknown, cancelled: AbortSignal): QueryDeepPartialEntity<OperationEntity> {
    // What an abort interrupted fails in some way of its own; why it was interrupted is what counts.
    if (cancelled.aborted) return { state: 'cancelled', error: toDomainError(cancelled.reason).toBody() };
    if (this.stopping.signal.aborted) {
      const why = `image-service stopped while ${row.kind} of ${row.image} was at work`;
      return { state: 'cancelled', error: imageError('OPERATION_INTERRUPTED', why).toBody() };
    }
    if (!isDomainError(e)) this.log.error(`${row.kind} of ${row.image} failed unexpectedly`, e);
    const body = toDomainError(e).toBody();
    return { state: 'failed', error: { ...body, message: body.message.slice(0, MAX_MESSAGE_CHARS) } };
  }

  private async change(operationId: OperationId, change: QueryDeepPartialEntity<OperationEntity>): Promise<void> {
    await this.database.transaction(async (manager) => {
      await manager.update(OperationEntity, { operationId }, change);
      const row = await manager.findOneByOrFail(OperationEntity, { operationId });
      const body = { operation: operationView(row), atMs: Date.now() };
      await this.outbox.add(manager, imageEvents.operationChanged, [operationId], body);
    });
    this.waiters.notify(operationId);
  }

  private async get(operation: OperationId): Promise<OperationEntity> {
    const row = await this.rows.findOneBy({ operationId: operation });
    if (row === null) throw imageError('OPERATION_UNKNOWN', `no operation ${operation} is known`, { operation });
    return row;
  }
}

const busy = ({ kind, operationId, image }: OperationEntity) =>
  imageError('IMAGE_BUSY', `${kind} (${operationId}) is at work on image ${image}`, { image, operation: operationId });

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
