import { vmError, type TerminalMessage, type TerminalMode, type TerminalView } from '@inquest/contracts-vm';
import { OutputRing } from './output-ring';
import { replayOf } from './replay';
import type { TerminalLimits } from './terminal-limits';
import { TerminalViewer, type ViewerSocket } from './terminal-viewer';

/** The viewers of one terminal, what it has shown, and which of them is in control. */
export class TerminalAudience {
  private readonly ring: OutputRing;
  private readonly viewers = new Set<TerminalViewer>();
  private controller: TerminalViewer | null = null;
  private ended: TerminalView | null = null;
  private wake: () => void = () => undefined;
  /** Nobody kept up for as long as the command waits for somebody. */
  private isGivenUp = false;

  constructor(private readonly limits: TerminalLimits) {
    this.ring = new OutputRing(limits.replayBytes);
  }

  get count(): number {
    return this.viewers.size;
  }

  get isControlled(): boolean {
    return this.controller !== null;
  }

  get outputBytes(): number {
    return this.ring.end;
  }

  isController(viewer: TerminalViewer): boolean {
    return this.controller === viewer;
  }

  /** Throws `TERMINAL_LIMIT_REACHED` when it has as many viewers as it may have. */
  requireRoom(): void {
    const limit = this.limits.viewersPerTerminal;
    if (this.viewers.size < limit) return;
    throw vmError('TERMINAL_LIMIT_REACHED', `the terminal has ${limit} viewers already`, { limit });
  }

  /**
   * Adds a viewer, for which `requireRoom` found room; one that may control does so when nobody else does. One of a
   * terminal that has ended gets the replay and the end.
   */
  join(
    socket: ViewerSocket,
    mode: TerminalMode,
    fromOffset: number | null,
    viewOf: () => TerminalView,
  ): TerminalViewer {
    const viewer = new TerminalViewer(mode, socket, this.ring, () => this.progress());
    this.viewers.add(viewer);
    if (mode === 'control' && this.ended === null) this.controller ??= viewer;
    const { bytes, offset } = replayOf(this.ring, fromOffset);
    const isController = this.isController(viewer);
    const terminal = viewOf();
    viewer.begin({ type: 'attached', terminal, isController, replayBytes: bytes.length, offset }, bytes);
    if (this.ended === null) this.tellOfEachOther(viewer);
    else viewer.finish({ type: 'ended', terminal: this.ended });
    return viewer;
  }

  /** Whoever was in control leaves it to the next who takes it. */
  leave(viewer: TerminalViewer): void {
    if (!this.viewers.delete(viewer)) return;
    if (this.controller === viewer) this.controller = null;
    this.tellOfEachOther();
    this.progress();
  }

  /** Also from another viewer. Throws `TERMINAL_CONTROL_MISSING` for one that only views. */
  takeControl(viewer: TerminalViewer): void {
    if (viewer.mode !== 'control') {
      throw vmError('TERMINAL_CONTROL_MISSING', 'this viewer was let in to watch, not to control');
    }
    this.controller = viewer;
    this.tellOfEachOther();
  }

  releaseControl(viewer: TerminalViewer): void {
    if (this.controller !== viewer) return;
    this.controller = null;
    this.tellOfEachOther();
  }

  tell(message: TerminalMessage): void {
    for (const viewer of [...this.viewers]) viewer.send(message);
  }

  /**
   * Shows output to everybody. Resolves when somebody keeps up, so that a command is slowed down to the pace of its
   * fastest viewer and of no other; and after `patienceMs` at the latest, once per standstill.
   */
  async show(bytes: Uint8Array): Promise<void> {
    this.ring.write(bytes);
    for (const viewer of [...this.viewers]) viewer.advance();
    if (this.isKeptUpWith || this.isGivenUp) return;
    const patience = new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.isGivenUp = true;
        resolve();
      }, this.limits.patienceMs);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    await patience;
  }

  /** Everybody gets the rest of the output and the end, and is let go. */
  end(view: TerminalView): void {
    this.ended = view;
    this.controller = null;
    for (const viewer of [...this.viewers]) viewer.finish({ type: 'ended', terminal: view });
  }

  private get isKeptUpWith(): boolean {
    return this.viewers.size === 0 || [...this.viewers].some(({ isCurrent }) => isCurrent);
  }

  private progress(): void {
    this.isGivenUp = false;
    if (this.isKeptUpWith) this.wake();
  }

  private tellOfEachOther(except: TerminalViewer | null = null): void {
    if (this.ended !== null) return;
    const { isControlled } = this;
    for (const viewer of [...this.viewers]) {
      if (viewer === except) continue;
      viewer.send({ type: 'viewers', count: this.count, isController: this.isController(viewer), isControlled });
    }
  }
}
