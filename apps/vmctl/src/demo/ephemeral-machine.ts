import { DestroyedView, ExecView, MachineView, VerdictReport } from '@inquest/contracts-vm';
import { delay, hasCode } from '@inquest/kernel';
import type { VerdictClass } from '@inquest/verdict-engine';
import type { CliContext } from '../context';
import { awaitReady } from '../run/await-ready';

/** A guest on a host that is busy with others. */
const EXEC_TIMEOUT_MS = 60_000;
const POLL_MS = 200;

/** What a machine of a check is started with. */
export interface EphemeralOptions {
  readonly image: string;
  readonly allowedHosts?: readonly string[];
}

/** A machine that a check starts, uses and removes. */
export class EphemeralMachine {
  private constructor(
    private readonly context: CliContext,
    private view: MachineView,
  ) {}

  /** Starts one and waits for its guest agent. Throws what the platform answers, and `MACHINE_BOOT_FAILED`. */
  static async start(context: CliContext, { image, allowedHosts = [] }: EphemeralOptions): Promise<EphemeralMachine> {
    const body = { image, allowedHosts: [...allowedHosts] };
    const started = await context.gateway.call(MachineView, 'POST', '/v1/machines', { body });
    return new EphemeralMachine(context, await awaitReady(context, started));
  }

  get id(): string {
    return this.view.machineId;
  }

  get incarnation(): number {
    return this.view.incarnation;
  }

  get version(): number {
    return this.view.version;
  }

  /** Runs a shell command to its end. */
  exec(command: string, env: Readonly<Record<string, string>> | null = null): Promise<ExecView> {
    const body = { command, env, timeoutMs: EXEC_TIMEOUT_MS };
    return this.context.gateway.call(ExecView, 'POST', `${this.path}/exec`, { body });
  }

  /** Standard output of a shell command that must succeed. */
  async output(command: string): Promise<string> {
    const { exitCode, stdout, stderr } = await this.exec(command);
    if (exitCode !== 0) throw new Error(`\`${command}\` gave ${exitCode}: ${stderr.text.trim()}`);
    return stdout.text.trim();
  }

  /** Begins a shell command that may take the machine with it; resolves when the guest has it. `signal` hangs up. */
  async begin(command: string, signal: AbortSignal): Promise<void> {
    const stream = await this.context.gateway.stream('POST', `${this.path}/exec-stream`, { body: { command }, signal });
    // Its end says nothing: that of the machine does.
    stream.on('error', () => undefined).resume();
  }

  /** The machine's verdict once it is `expected`, or once the machine has ended otherwise, or as it stands after `withinMs`. */
  async awaitVerdict(expected: VerdictClass, withinMs: number): Promise<VerdictReport> {
    const deadline = performance.now() + withinMs;
    for (;;) {
      const report = await this.verdict().catch((e: unknown) => {
        // One that ends right now has no verdict yet.
        if (hasCode(e, 'MACHINE_STATE_WRONG')) return null;
        throw e;
      });
      const isKnown = report !== null && (report.verdict.class === expected || !report.isProvisional);
      if (report !== null && (isKnown || performance.now() > deadline)) return report;
      await delay(POLL_MS, this.context.signal);
    }
  }

  verdict(): Promise<VerdictReport> {
    const query = { incarnation: this.incarnation };
    return this.context.gateway.call(VerdictReport, 'GET', `${this.path}/verdict`, { query });
  }

  /** A new life on a new disk. */
  async reset(): Promise<void> {
    const started = await this.context.gateway.call(MachineView, 'POST', `${this.path}/reset`, { body: {} });
    this.view = await awaitReady(this.context, started);
  }

  /** Removes it; as often as asked. */
  remove(): Promise<DestroyedView> {
    return this.context.gateway.call(DestroyedView, 'DELETE', this.path);
  }

  private get path(): string {
    return `/v1/machines/${this.id}`;
  }
}
