import { delay } from '@inquest/kernel';
import type { OwnedProcess, ProcessExit } from '@inquest/process';
import type { ServiceStatus } from './stack-state';

/** A process that is ready, and where it listens. */
export interface Launched {
  readonly process: OwnedProcess;
  readonly url: string | null;
}

export interface LaunchContext {
  /** The URL of its earlier life, whose port it should take again; null the first time and after a failed attempt. */
  readonly earlierUrl: string | null;
  /** To be called as soon as there is a process, so that it is on record before it is ready. */
  readonly onSpawn: (process: OwnedProcess) => void;
  readonly signal: AbortSignal;
}

/** Starts the process and waits until it is ready. On rejection no process of it is left. */
export type Launch = (context: LaunchContext) => Promise<Launched>;

export interface RestartPolicy {
  readonly firstBackoffMs: number;
  readonly maxBackoffMs: number;
  /** Consecutive failures after which it is given up. */
  readonly maxFailures: number;
  /** A life at least this long makes the earlier failures count no more. */
  readonly stableAfterMs: number;
}

export const RESTART_POLICY: RestartPolicy = {
  firstBackoffMs: 200,
  maxBackoffMs: 5_000,
  maxFailures: 20,
  stableAfterMs: 30_000,
};

export interface SupervisedServiceOptions {
  readonly name: string;
  readonly logFile: string;
  readonly launch: Launch;
  readonly policy: RestartPolicy;
  readonly onChange: (status: ServiceStatus) => void;
}

/** Keeps one service running until it is stopped: starts it again, with growing pauses, whenever its process ends. */
export class SupervisedService {
  private readonly stopping = new AbortController();
  private readonly stopped = new Promise<void>((resolve) => {
    this.stopping.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  private launching: Promise<unknown> = Promise.resolve();
  private running: OwnedProcess | null = null;
  private supervision: Promise<void> = Promise.resolve();
  private current: ServiceStatus;

  constructor(private readonly options: SupervisedServiceOptions) {
    const { name, logFile } = options;
    this.current = { name, state: 'waiting', process: null, url: null, logFile, restarts: 0, lastFailure: null };
  }

  get status(): ServiceStatus {
    return this.current;
  }

  /** Resolves once it is ready for the first time; rejects, without trying again, when that fails. */
  async start(): Promise<void> {
    const launched = await this.launchOnce('starting');
    this.supervision = this.supervise(launched);
  }

  /** Ends its process and the supervision; resolves once the process was seen gone. Idempotent. */
  async stop(graceMs: number): Promise<void> {
    this.stopping.abort();
    await this.running?.stop({ graceMs });
    // A launch that had no process yet when it was aborted ends what it starts by itself.
    await Promise.allSettled([this.launching, this.supervision]);
    if (this.current.state !== 'failed') this.change({ state: 'stopped', process: null });
  }

  private async supervise(first: Launched): Promise<void> {
    let failures = 0;
    let launched: Launched | null = first;
    while (!this.stopping.signal.aborted) {
      if (launched !== null) {
        const upSinceMs = performance.now();
        const exit = await this.endOf(launched);
        if (exit === null) return;
        if (performance.now() - upSinceMs >= this.options.policy.stableAfterMs) failures = 0;
        this.change({ state: 'restarting', process: null, lastFailure: `ended with ${exit.code ?? exit.signal}` });
      }
      failures++;
      if (failures > this.options.policy.maxFailures) return this.change({ state: 'failed' });
      if (!(await this.pause(failures))) return;
      this.change({ restarts: this.current.restarts + 1 });
      // Where its earlier port does not work any more (somebody took it), a fresh one must do.
      launched = await this.launchOnce('restarting', launched !== null).catch(() => null);
    }
  }

  /** How its process ended; null when it is being stopped instead. */
  private endOf(launched: Launched): Promise<ProcessExit | null> {
    return Promise.race([launched.process.exited, this.stopped.then(() => null)]);
  }

  /** False when it was stopped meanwhile. */
  private async pause(failures: number): Promise<boolean> {
    const { firstBackoffMs, maxBackoffMs } = this.options.policy;
    const pauseMs = Math.min(maxBackoffMs, firstBackoffMs * 2 ** (failures - 1));
    return delay(pauseMs, this.stopping.signal).then(
      () => true,
      () => false,
    );
  }

  private async launchOnce(state: 'starting' | 'restarting', keepPort = false): Promise<Launched> {
    const { signal } = this.stopping;
    signal.throwIfAborted();
    this.change({ state });
    const launching = this.options.launch({
      earlierUrl: keepPort ? this.current.url : null,
      signal,
      onSpawn: (process) => {
        this.running = process;
        this.change({ process: { pid: process.pid, startTicks: process.startTicks } });
      },
    });
    this.launching = launching;
    try {
      const launched = await launching;
      this.change({ state: 'running', url: launched.url });
      return launched;
    } catch (e) {
      this.change({ process: null, lastFailure: e instanceof Error ? e.message : String(e) });
      throw e;
    }
  }

  private change(fields: Partial<ServiceStatus>): void {
    this.current = { ...this.current, ...fields };
    this.options.onChange(this.current);
  }
}
