import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import type { PublicationStepView } from '@inquest/contracts-publish';
import { errorView, type ErrorView } from '@inquest/contracts-base';
import {
  deadlineSignal,
  hasCode,
  isDomainError,
  KeyedQueue,
  toDomainError,
  type ProjectId,
  type PublicationId,
} from '@inquest/kernel';
import { GIT_FORGE, gitForgeError, type GitForge } from '@inquest/git-forge';
import { ProjectsService } from '../projects/projects.service';
import { PublishServiceConfig } from '../publish-service.config';
import { ForgeSteps } from './forge-steps';
import type { PublicationEntity } from './publication.entity';
import { PublicationsRepository } from './publications.repository';
import { nextAttemptAt } from './retry-schedule';

/** Of one attempt: below the deadline of those who wait for its outcome. */
const ATTEMPT_TIMEOUT_MS = 110_000;

export const NO_FORGE =
  'nothing was published: no forge is configured. The commits are kept in the project on the host.';

/**
 * Works on one publication at a time: the branch first, then its steps. What is done is stored before the next thing is
 * begun, and everything may be repeated, so whatever interrupts it, the forge has each of them once.
 */
@Injectable()
export class Publisher implements BeforeApplicationShutdown {
  private readonly log = new Logger(Publisher.name);
  private readonly queue = new KeyedQueue();
  private readonly atWork = new Set<PublicationId>();
  private readonly stopping = new AbortController();
  private onOutcome: () => void = () => undefined;

  constructor(
    private readonly config: PublishServiceConfig,
    private readonly publications: PublicationsRepository,
    private readonly projects: ProjectsService,
    private readonly steps: ForgeSteps,
    @Inject(GIT_FORGE) private readonly forge: GitForge | null,
  ) {}

  beforeApplicationShutdown(): void {
    this.stopping.abort();
  }

  /** One listener, called after each attempt. */
  afterEach(listener: () => void): void {
    this.onOutcome = listener;
  }

  /** True while somebody waits for an attempt of it in this process. */
  isAtWork(publication: PublicationId): boolean {
    return this.atWork.has(publication);
  }

  /**
   * One attempt, after `prepare` changed the row when its turn came. A publication that is published stays as it is.
   * Throws `PUBLICATION_UNKNOWN`, what `prepare` throws, what the database throws, and what the forge throws once the
   * service stops: the publication is as it was then, and the next start goes on.
   */
  attempt(publication: PublicationId, prepare: Prepare = unchanged): Promise<PublicationEntity> {
    return this.queue.run(publication, async () => {
      this.atWork.add(publication);
      try {
        const row = await this.publications.get(publication);
        const change = await prepare(row);
        return await this.attemptNow(change === null ? row : await this.publications.change(row, change));
      } finally {
        this.atWork.delete(publication);
        this.onOutcome();
      }
    });
  }

  private async attemptNow(row: PublicationEntity): Promise<PublicationEntity> {
    if (row.state === 'published') return row;
    const { forge } = this;
    if (forge === null) return this.publications.change(row, this.withoutForge(row));
    const signal = deadlineSignal(ATTEMPT_TIMEOUT_MS, this.stopping.signal);
    const begun = { ...forgottenElsewhere(row, forge), forge: forge.name, attempts: row.attempts + 1 };
    const atForge = { ...row, ...begun };
    // A branch that was read back is left alone: it may have been merged and deleted since.
    const branch = atForge.isVerified
      ? { message: publishedTo(forge) }
      : await this.publishBranch(forge, atForge, signal);
    const pushed = { ...atForge, ...branch };
    if (!pushed.isVerified) return this.publications.change(row, { ...begun, ...branch });
    const steps = this.steps.plan(forge, pushed);
    const isOver = steps.every(({ state }) => state !== 'pending');
    const end = isOver ? publishedNow(row) : ({ state: 'pending', error: null, nextAttemptAt: null } as const);
    return this.runSteps(forge, await this.publications.change(row, { ...begun, ...branch, steps, ...end }), signal);
  }

  private withoutForge(row: PublicationEntity): Partial<PublicationEntity> {
    if (!row.isVerified) return { state: 'skipped', message: NO_FORGE, nextAttemptAt: null };
    const message = `branch ${row.branch} is on ${row.forge}, but no forge is configured any more to do what is left`;
    const attempts = row.attempts + 1;
    return { attempts, ...this.failure(errorView(gitForgeError('FORGE_UNAVAILABLE', message)), attempts) };
  }

  private async publishBranch(
    forge: GitForge,
    row: PublicationEntity,
    signal: AbortSignal,
  ): Promise<Partial<PublicationEntity>> {
    try {
      const { url } = await forge.ensureRepository(row.project, signal);
      const base = await this.steps.prepareBase(forge, row, { signal, stopping: this.stopping.signal });
      const message = await this.pushBranch(forge, row, signal);
      const steps = base === null ? row.steps : [base, ...row.steps.filter(({ kind }) => kind !== base.kind)];
      return { url, isVerified: true, message, steps };
    } catch (e) {
      if (this.stopping.signal.aborted) throw e;
      if (!isDomainError(e)) this.log.error(`pushing ${row.project} failed unexpectedly`, e);
      return this.failure(errorView(toDomainError(e)), row.attempts);
    }
  }

  /** Resolves, with what to tell people, once the branch on the forge has the commit. Throws what the forge throws. */
  private async pushBranch(forge: GitForge, row: PublicationEntity, signal: AbortSignal): Promise<string> {
    const { project, branch, commit } = row;
    const repository = await this.projects.open(project as ProjectId);
    try {
      await forge.push({ repositoryPath: repository.path, commit, branch, project }, signal);
      return publishedTo(forge);
    } catch (e) {
      const found = hasCode(e, 'FORGE_BRANCH_MOVED') ? toDomainError(e).details['found'] : null;
      // Another session that went on from this commit was published first.
      if (typeof found === 'string' && (await repository.standsOn(found, commit, signal))) {
        return `already on ${forge.name}: branch ${branch} is at ${found.slice(0, 12)}, which stands on this commit`;
      }
      throw e;
    }
  }

  /** Every pending step, also after one that failed; each outcome is stored at once. */
  private async runSteps(forge: GitForge, begun: PublicationEntity, signal: AbortSignal): Promise<PublicationEntity> {
    let row = begun;
    const pending = row.steps.filter(({ state }) => state === 'pending');
    for (const [index, { kind }] of pending.entries()) {
      const ended = await this.steps.run(kind, forge, row, { signal, stopping: this.stopping.signal });
      const steps = row.steps.map((step) => (step.kind === kind ? ended : step));
      const isLast = index === pending.length - 1;
      row = await this.publications.change(row, { steps, ...(isLast ? this.outcomeOf(row, steps) : {}) });
    }
    return row;
  }

  private outcomeOf(row: PublicationEntity, steps: readonly PublicationStepView[]): Partial<PublicationEntity> {
    const failed = steps.find(({ error }) => error !== null);
    if (failed?.error == null) return publishedNow(row);
    const message = `branch ${row.branch} is on ${row.forge}, but its ${failed.kind} failed: ${failed.message}`;
    return this.failure(errorView({ ...failed.error, message }), row.attempts);
  }

  private failure(error: ErrorView, attempts: number): Partial<PublicationEntity> {
    const firstDelayMs = this.config.retrySeconds * 1000;
    const next = nextAttemptAt(error.code, attempts, firstDelayMs, Date.now());
    return { state: 'failed', message: error.message, error, nextAttemptAt: next };
  }
}

/** What of a row changes before an attempt; null: nothing. */
export type Prepare = (row: PublicationEntity) => Promise<Partial<PublicationEntity> | null>;

const unchanged: Prepare = () => Promise.resolve(null);

/** What was done at another forge counts for nothing at this one. */
const forgottenElsewhere = (row: PublicationEntity, { name }: GitForge): Partial<PublicationEntity> =>
  row.forge === name ? {} : { isVerified: false, url: null, steps: [] };

const publishedTo = ({ name }: GitForge): string => `published to ${name} and read back`;

const publishedNow = ({ publishedAt }: PublicationEntity): Partial<PublicationEntity> => ({
  state: 'published',
  error: null,
  nextAttemptAt: null,
  // A release that is made later does not make the publication a later one.
  publishedAt: publishedAt ?? new Date(),
});
