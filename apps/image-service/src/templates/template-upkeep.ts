import { Injectable, Logger, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type { VersionTemplateState } from '@inquest/contracts-image';
import { delay, hasCode, toDomainError } from '@inquest/kernel';
import type { ImageVersionEntity } from '../images/image-version.entity';
import { ImageVersionsRepository } from '../images/image-versions.repository';
import { VersionLog } from '../images/version-log';
import { ImageServiceConfig } from '../image-service.config';
import { OperationsService } from '../operations/operations.service';
import { VersionTemplates } from './version-templates';

/** What the operation that makes a template is called. */
export const TEMPLATE_OPERATION = 'image.template';

/** States of a template that making it anew mends. */
const MENDABLE: readonly VersionTemplateState[] = ['missing', 'outdated', 'damaged'];
/** Tries for one version, each after twice the pause of the one before; a template that is ready begins the count anew. */
const MAX_TRIES = 3;
/** The first look comes soon: a node that was upgraded boots its machines until then. */
const FIRST_LOOK_MS = 5_000;

interface Tries {
  readonly count: number;
  /** ms since the Unix epoch. */
  readonly nextAtMs: number;
}

/**
 * Makes the templates of frozen versions anew where a node has none that it can use: after an upgrade of QEMU or of the
 * driver, for a node that is new, and for what was damaged. Each is an operation like any other; work on the same image
 * that is under way goes first.
 */
@Injectable()
export class TemplateUpkeep implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger(TemplateUpkeep.name);
  private readonly stopping = new AbortController();
  private readonly tries = new Map<string, Tries>();
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly config: ImageServiceConfig,
    private readonly versions: ImageVersionsRepository,
    private readonly operations: OperationsService,
    private readonly templates: VersionTemplates,
    private readonly logs: VersionLog,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.templateIntervalMs > 0) this.running = this.lookUntilStopped(this.config.templateIntervalMs);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort(new Error('image-service is stopping'));
    await this.running;
  }

  /** What somebody asked for was made: failures before count no more. */
  noteMade({ name, version }: Pick<ImageVersionEntity, 'name' | 'version'>): void {
    this.tries.delete(`${name}:${version}`);
  }

  private async lookUntilStopped(intervalMs: number): Promise<void> {
    const { signal } = this.stopping;
    let pauseMs = Math.min(FIRST_LOOK_MS, intervalMs);
    while (!signal.aborted) {
      await delay(pauseMs, signal).catch(() => undefined);
      pauseMs = intervalMs;
      if (!signal.aborted)
        await this.look().catch((e: unknown) => this.log.warn('templates could not be looked at', e));
    }
  }

  /** The newest versions first: they are what sessions get. */
  private async look(): Promise<void> {
    const frozen = (await this.versions.all()).filter(({ state }) => state === 'frozen');
    for (const row of frozen) {
      if (this.stopping.signal.aborted) return;
      const key = `${row.name}:${row.version}`;
      const states = await this.templates.statesOf(row);
      if (states.some(({ state }) => MENDABLE.includes(state))) await this.mend(row, key);
      else if (states.length > 0) this.tries.delete(key);
    }
  }

  /** Never rejects: what is busy now is looked at again, and what fails is counted. */
  private async mend(row: ImageVersionEntity, key: string): Promise<void> {
    const { count, nextAtMs } = this.tries.get(key) ?? { count: 0, nextAtMs: 0 };
    if (count >= MAX_TRIES || Date.now() < nextAtMs) return;
    try {
      await this.operations.exclusively(TEMPLATE_OPERATION, row.name, row.version, (progress) =>
        this.templates.remake(row, progress),
      );
    } catch (e) {
      if (hasCode(e, 'IMAGE_BUSY') || this.stopping.signal.aborted) return;
      await this.noteFailure(row, key, { count: count + 1, reason: toDomainError(e).message });
    }
  }

  private async noteFailure(
    { name, version }: ImageVersionEntity,
    key: string,
    { count, reason }: { readonly count: number; readonly reason: string },
  ): Promise<void> {
    this.tries.set(key, { count, nextAtMs: Date.now() + this.config.templateIntervalMs * 2 ** count });
    this.log.warn(`try ${count} of ${MAX_TRIES} to make the template of ${key} failed: ${reason}`);
    if (count < MAX_TRIES) return;
    const next = `vmctl image template ${key}`;
    await this.logs.append(name, version, `no template after ${MAX_TRIES} tries, machines boot; try again: ${next}\n`);
  }
}
