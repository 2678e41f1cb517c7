import { Injectable, Logger, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { delay, hasCode } from '@inquest/kernel';
import { ImageServiceConfig } from '../image-service.config';
import { ImageLifecycle } from './image-lifecycle';
import { ImageVersionsRepository } from './image-versions.repository';

/** Bounds of how often it is looked whether a version is due. */
const LOOK_EVERY_MS = { min: 500, max: 600_000 };
/** Looks per interval: a version is late by a twentieth of it at most. */
const LOOKS_PER_INTERVAL = 20;

/** Reads frozen versions again on a schedule, one after the other, the longest unread first. */
@Injectable()
export class ScheduledVerification implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger(ScheduledVerification.name);
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly config: ImageServiceConfig,
    private readonly versions: ImageVersionsRepository,
    private readonly lifecycle: ImageLifecycle,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.verifyIntervalMs > 0) this.running = this.lookUntilStopped(this.config.verifyIntervalMs);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort(new Error('image-service is stopping'));
    await this.running;
  }

  private async lookUntilStopped(intervalMs: number): Promise<void> {
    const { signal } = this.stopping;
    const lookMs = Math.min(LOOK_EVERY_MS.max, Math.max(LOOK_EVERY_MS.min, intervalMs / LOOKS_PER_INTERVAL));
    while (!signal.aborted) {
      await delay(lookMs, signal).catch(() => undefined);
      if (!signal.aborted) await this.verifyOneDue(new Date(Date.now() - intervalMs));
    }
  }

  /** Never rejects: what is busy or fails now is due again at the next look. */
  private async verifyOneDue(since: Date): Promise<void> {
    try {
      const due = await this.versions.longestUnverified(since);
      if (due !== null) await this.lifecycle.verify(due.name, due.version);
    } catch (e) {
      if (!hasCode(e, 'IMAGE_BUSY')) this.log.warn('a scheduled verification could not begin', e);
    }
  }
}
