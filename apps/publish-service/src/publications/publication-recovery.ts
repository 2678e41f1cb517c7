import { Injectable, Logger, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { delay, type PublicationId } from '@inquest/kernel';
import { PublicationsRepository } from './publications.repository';
import { Publisher } from './publisher';

/** How long work that nobody announced waits: a row that an attempt left pending while the database was away. */
const POLL_MS = 60_000;
/** After a failure to look, and while one that is due is at work already. */
const RETRY_MS = 5_000;

/**
 * Finishes what an earlier life of this service had begun, and tries failed publications again when their time has come.
 * In the background: a forge that is slow does not keep the service from starting.
 */
@Injectable()
export class PublicationRecovery implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger(PublicationRecovery.name);
  private readonly stopping = new AbortController();
  private woken = new AbortController();
  private background: Promise<void> = Promise.resolve();

  constructor(
    private readonly publications: PublicationsRepository,
    private readonly publisher: Publisher,
  ) {}

  onApplicationBootstrap(): void {
    this.publisher.afterEach(() => this.woken.abort());
    this.background = this.workUntilStopped();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.background;
  }

  private async workUntilStopped(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const waitMs = await this.attemptDue().catch((e: unknown) => {
        if (!signal.aborted) this.log.error('publications that are due could not be worked on', e);
        return RETRY_MS;
      });
      await delay(waitMs, AbortSignal.any([signal, this.woken.signal])).catch(() => undefined);
    }
  }

  /** Works on all that are due; ms until the next one is. */
  private async attemptDue(): Promise<number> {
    for (const row of await this.publications.due(new Date())) {
      if (this.stopping.signal.aborted) return 0;
      const publication = row.publicationId as PublicationId;
      if (!this.publisher.isAtWork(publication)) await this.publisher.attempt(publication);
    }
    this.woken = new AbortController();
    const next = await this.publications.nextAttemptAt();
    const waitMs = next === null ? POLL_MS : next.getTime() - Date.now();
    return waitMs > 0 ? Math.min(POLL_MS, waitMs) : RETRY_MS;
  }
}
