import type { TerminalMessage, TerminalMode, TerminalView } from '@inquest/contracts-vm';
import { delay, hasCode } from '@inquest/kernel';
import type { CliContext } from '../context';
import { isAbsence } from '../run/long-poll';
import { ESCAPE_HELP, EscapeKeys } from './escape-keys';
import type { LocalTerminal } from './local-terminal';
import { TerminalLine, type LineEvents, type Viewing } from './terminal-line';

/** How a viewing ended: with the terminal, by leaving it, or because it is to be ended. */
export type ViewingEnd =
  { readonly how: 'ended'; readonly terminal: TerminalView } | { readonly how: 'left' } | { readonly how: 'end' };

/** How long the platform may be away, as while its gateway restarts. */
const MAX_ABSENCE_MS = 30_000;
const RETRY_PAUSE_MS = 500;
const END_OF_INPUT_EVERY_MS = 500;

/** One viewing of a terminal, over as many connections as it takes. */
export class TerminalFollower implements LineEvents {
  private readonly keys = new EscapeKeys();
  private line: TerminalLine | null = null;
  private wish: 'left' | 'end' | null = null;
  private hasBeenTold = false;
  private ending: NodeJS.Timeout | undefined;
  private stopListening: (() => void) | null = null;

  constructor(
    private readonly context: CliContext,
    private readonly local: LocalTerminal,
    private readonly mode: TerminalMode,
  ) {}

  /** Until the terminal ends, or is left. Throws what keeps it from being looked at. */
  async follow(terminal: Pick<TerminalView, 'machineId' | 'terminalId'>): Promise<ViewingEnd> {
    const { signal } = this.context;
    const leave = (): void => this.leave('left');
    signal.addEventListener('abort', leave);
    try {
      return await this.attachUntilOver({ ...terminal, mode: this.mode, fromOffset: null });
    } finally {
      signal.removeEventListener('abort', leave);
      clearInterval(this.ending);
      this.stopListening?.();
    }
  }

  output(bytes: Uint8Array): Promise<void> {
    return this.local.show(bytes);
  }

  message(message: TerminalMessage, line: TerminalLine): void {
    switch (message.type) {
      case 'attached':
        return this.begin(line, message.isController);
      case 'viewers':
        if (message.isController) this.resize();
        return;
      case 'skipped':
        return this.note(`${message.bytes} bytes of output came too fast and were left out`);
      case 'refused':
        return this.tellOnce(message.message);
      default:
        return;
    }
  }

  private async attachUntilOver(first: Viewing): Promise<ViewingEnd> {
    let viewing = first;
    for (;;) {
      const line = await this.connect(viewing);
      const terminal = await line.done;
      if (terminal !== null) return { how: 'ended', terminal };
      if (this.wish !== null) return { how: this.wish };
      this.note('the connection broke; attaching again');
      viewing = { ...viewing, fromOffset: line.offset };
    }
  }

  /** The first try must succeed; a viewing that has begun waits for a platform that is away. */
  private async connect(viewing: Viewing): Promise<TerminalLine> {
    const since = performance.now();
    for (;;) {
      try {
        return await TerminalLine.open(this.context.gateway, viewing, this);
      } catch (e) {
        const mayComeBack = isAbsence(e) || hasCode(e, 'CLI_PLATFORM_DOWN');
        if (viewing.fromOffset === null || !mayComeBack || performance.now() - since > MAX_ABSENCE_MS) throw e;
        await delay(RETRY_PAUSE_MS, this.context.signal);
      }
    }
  }

  private begin(line: TerminalLine, isController: boolean): void {
    this.line = line;
    if (this.wish !== null) return line.leave();
    if (isController) this.resize();
    else if (this.mode === 'control') line.say({ type: 'take-control' });
    // Not before there is somebody to type to.
    this.stopListening ??= this.local.listen({
      keys: (keys) => this.type(keys),
      end: () => this.endInput(),
      resized: () => this.resize(),
    });
  }

  private type(keys: Buffer): void {
    if (!this.local.isInteractive) return this.send(keys);
    const { forGuest, actions } = this.keys.take(keys);
    this.send(forGuest);
    for (const action of actions) {
      if (action === 'help') for (const line of ESCAPE_HELP) this.note(line);
      else this.leave(action === 'end' ? 'end' : 'left');
    }
  }

  private send(keys: Buffer): void {
    if (keys.length === 0) return;
    this.hasBeenTold = false;
    if (this.mode === 'control') this.line?.type(keys);
  }

  /**
   * The end of a pipe stays the end, but a key is read once, by whatever reads it: a line that is not complete, or a
   * program that changes the mode of its terminal. So it is typed until the command ends.
   */
  private endInput(): void {
    if (this.mode !== 'control') return;
    const typeEnd = (): void => this.line?.say({ type: 'end-input' });
    typeEnd();
    this.ending = setInterval(typeEnd, END_OF_INPUT_EVERY_MS);
  }

  private resize(): void {
    if (this.mode === 'control') this.line?.say({ type: 'resize', ...this.local.size });
  }

  private leave(how: 'left' | 'end'): void {
    this.wish = how;
    this.line?.leave();
  }

  /** Once per key, not once per message: a refusal must not flood the screen. */
  private tellOnce(text: string): void {
    if (this.hasBeenTold) return;
    this.hasBeenTold = true;
    this.note(text);
  }

  /** In raw mode a newline alone does not go back to the beginning of the line. */
  private note(text: string): void {
    this.context.stderr.write(this.local.isInteractive ? `\r\nvmctl: ${text}\r\n` : `vmctl: ${text}\n`);
  }
}
