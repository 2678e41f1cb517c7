import { cutText, dto } from '@inquest/contracts-base';
import { TerminalView, vmError, type OpenTerminalRequest, type TerminalReason } from '@inquest/contracts-vm';
import type { ExecExit, TerminalSize } from '@inquest/frame-protocol';
import type { GuestExec } from '@inquest/guest-link';
import { newId, type DomainError } from '@inquest/kernel';
import { TerminalAudience } from './terminal-audience';
import type { TerminalLimits } from './terminal-limits';
import type { TerminalViewer } from './terminal-viewer';

/** What a terminal needs of the machine that it is on. */
export interface TerminalHost {
  readonly machineId: string;
  readonly incarnation: number;
  resize(execId: string, size: TerminalSize): Promise<void>;
  /** Why the machine is not to be reached any more. */
  explain(e: unknown): Promise<DomainError>;
}

const MESSAGE_LENGTH = 8_192;

/** How a terminal ended. */
interface TerminalEnd {
  readonly reason: Exclude<TerminalReason, 'running'>;
  readonly message: string;
  readonly exit?: ExecExit;
}

/** A command of a guest that has a terminal, with everybody who looks at it. */
export class Terminal {
  readonly terminalId = newId<string>('term');
  readonly audience: TerminalAudience;
  /** Resolves when it has ended. */
  readonly whenEnded: Promise<void>;
  private readonly openedAtMs = Date.now();
  private activeAtMs = Date.now();
  private endedAtMs: number | null = null;
  private end: TerminalEnd | null = null;
  private closing: TerminalEnd | null = null;
  private size: TerminalSize;
  private wantedSize: TerminalSize | null = null;

  /** Owns `exec`. */
  constructor(
    private readonly host: TerminalHost,
    private readonly request: Pick<OpenTerminalRequest, 'command' | 'cols' | 'rows'>,
    private readonly exec: GuestExec,
    limits: TerminalLimits,
  ) {
    this.audience = new TerminalAudience(limits);
    this.size = { cols: request.cols, rows: request.rows };
    this.whenEnded = this.run();
  }

  get isRunning(): boolean {
    return this.end === null;
  }

  /** Ms since somebody looked at it or it showed something; since its end when it has ended. */
  idleMs(nowMs: number): number {
    return this.endedAtMs === null && this.audience.count > 0 ? 0 : nowMs - (this.endedAtMs ?? this.activeAtMs);
  }

  get view(): TerminalView {
    const { end, audience } = this;
    return dto(TerminalView, {
      terminalId: this.terminalId,
      machineId: this.host.machineId,
      incarnation: this.host.incarnation,
      command: this.request.command,
      state: end === null ? 'running' : 'ended',
      reason: end?.reason ?? 'running',
      message: cutText(end?.message ?? 'its command runs', MESSAGE_LENGTH),
      ...this.size,
      openedAtMs: this.openedAtMs,
      endedAtMs: this.endedAtMs,
      exitCode: end?.exit?.code ?? null,
      signal: end?.exit?.signal ?? null,
      viewers: audience.count,
      isControlled: audience.isControlled,
      outputBytes: audience.outputBytes,
    });
  }

  /** Types; resolves when more may be typed. Throws `TERMINAL_CONTROL_MISSING`. */
  async type(viewer: TerminalViewer, bytes: Uint8Array): Promise<void> {
    this.requireControl(viewer);
    this.activeAtMs = Date.now();
    // The end of the command, or of the machine, is told to everybody by itself.
    if (this.isRunning) await this.exec.writeStdin(bytes).catch(() => undefined);
  }

  /** Types the end-of-file key. Throws `TERMINAL_CONTROL_MISSING`. */
  async typeEndOfFile(viewer: TerminalViewer): Promise<void> {
    await this.type(viewer, END_OF_FILE_KEY);
  }

  /** Takes the size of the screen of whoever is in control. Throws `TERMINAL_CONTROL_MISSING`. */
  resize(viewer: TerminalViewer, size: TerminalSize): void {
    this.requireControl(viewer);
    const isBusy = this.wantedSize !== null;
    this.wantedSize = size;
    if (!isBusy) void this.applySizes();
  }

  /** Kills the command and everything of its session. Resolves when it has ended. */
  close(reason: 'closed' | 'idle', message: string): Promise<void> {
    this.closing ??= { reason, message };
    this.exec.kill();
    return this.whenEnded;
  }

  /** Somebody came or went. */
  touch(): void {
    this.activeAtMs = Date.now();
  }

  /** Until the command, or the machine, has ended. Never rejects. */
  private async run(): Promise<void> {
    try {
      for await (const { bytes } of this.exec.output) {
        this.activeAtMs = Date.now();
        await this.audience.show(bytes);
      }
      const exit = await this.exec.exit;
      this.finish({ reason: 'exited', message: exitMessage(exit), exit });
    } catch (e) {
      this.finish(this.closing ?? { reason: 'lost', message: (await this.host.explain(e)).message });
    }
  }

  private finish(end: TerminalEnd): void {
    this.end = end;
    this.endedAtMs = Date.now();
    this.audience.end(this.view);
  }

  /** One at a time, and of those that come meanwhile only the last. */
  private async applySizes(): Promise<void> {
    while (this.wantedSize !== null) {
      const size = this.wantedSize;
      // A command that has just ended has no size any more.
      const isApplied = await this.host.resize(this.exec.started.execId, size).then(
        () => true,
        () => false,
      );
      if (isApplied && this.isRunning) {
        this.size = size;
        this.audience.tell({ type: 'resized', ...size });
      }
      if (this.wantedSize === size) this.wantedSize = null;
    }
  }

  private requireControl(viewer: TerminalViewer): void {
    if (this.audience.isController(viewer)) return;
    throw vmError('TERMINAL_CONTROL_MISSING', 'another viewer, or none, is in control of the terminal');
  }
}

/** CEOF of termios. Typed, not sent as the end of the stream's data: the terminal goes on. */
const END_OF_FILE_KEY = Uint8Array.of(0x04);

const exitMessage = ({ code, signal }: ExecExit): string =>
  signal === null ? `its command exited with ${code}` : `its command was ended by ${signal}`;
