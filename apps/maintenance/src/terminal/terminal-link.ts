import type {
  TERMINAL_PROTOCOL,
  TERMINAL_TICKET_PREFIX,
  TerminalMessage,
  TerminalView,
  ViewerMessage,
} from '@inquest/contracts-vm';
import { toProblem, type Problem } from '../api/problem';
import { attachTerminal } from '../api/terminals';

// Spelled out: the contract's module would bring the validation of its classes into the page.
const PROTOCOL: typeof TERMINAL_PROTOCOL = 'inquest.terminal.v1';
const TICKET_PREFIX: typeof TERMINAL_TICKET_PREFIX = 'inquest.ticket.';
/** Between two tries to come back; it doubles up to the longest. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** A message may have 64 KiB; a longer paste goes in several. */
const MAX_MESSAGE_BYTES = 32 * 1024;
/** Of the platform: trying again changes nothing. */
const FINAL_STATUSES: readonly number[] = [400, 401, 403, 404];

/** How a viewing stands. */
export interface LinkState {
  readonly status: 'connecting' | 'open' | 'broken' | 'ended' | 'refused';
  readonly isController: boolean;
  readonly isControlled: boolean;
  readonly viewers: number;
  /** Why it is broken or refused. */
  readonly problem: Problem | null;
  /** How it ended. */
  readonly ended: TerminalView | null;
}

export const INITIAL_STATE: LinkState = {
  status: 'connecting',
  isController: false,
  isControlled: false,
  viewers: 0,
  problem: null,
  ended: null,
};

/** What a link tells the screen. */
export interface LinkEvents {
  readonly changed: (state: LinkState) => void;
  readonly output: (bytes: Uint8Array) => void;
  readonly skipped: (bytes: number) => void;
  /** The size that the viewer in control gave it. */
  readonly resized: (cols: number, rows: number) => void;
}

/** A viewing of one terminal, over as many WebSockets as it takes: one that breaks is followed by another. */
export class TerminalLink {
  private readonly over = new AbortController();
  private socket: WebSocket | null = null;
  private state = INITIAL_STATE;
  private position: number | null = null;
  private replayLeft = 0;
  private pauseMs = FIRST_PAUSE_MS;

  constructor(
    private readonly machineId: string,
    private readonly terminalId: string,
    private readonly events: LinkEvents,
  ) {}

  /** Begins; call it once. */
  open(): void {
    void this.connect();
  }

  /** Leaves; the terminal goes on. */
  close(): void {
    this.over.abort();
    this.socket?.close();
  }

  type(keys: Uint8Array<ArrayBuffer>): void {
    for (let at = 0; at < keys.length; at += MAX_MESSAGE_BYTES) this.send(keys.subarray(at, at + MAX_MESSAGE_BYTES));
  }

  say(message: ViewerMessage): void {
    this.send(JSON.stringify(message));
  }

  private send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(data);
  }

  private async connect(): Promise<void> {
    try {
      const { machineId, terminalId } = this;
      const { ticket } = await attachTerminal(machineId, terminalId, this.position, this.over.signal);
      if (this.over.signal.aborted) return;
      const address = new URL(`/v1/machines/${encodeURIComponent(machineId)}/terminal-socket`, window.location.href);
      address.protocol = address.protocol.replace('http', 'ws');
      this.listen(new WebSocket(address, [PROTOCOL, `${TICKET_PREFIX}${ticket}`]));
    } catch (e) {
      this.fail(toProblem(e));
    }
  }

  private listen(socket: WebSocket): void {
    this.socket = socket;
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (typeof data === 'string') this.hear(JSON.parse(data) as TerminalMessage);
      else this.show(new Uint8Array(data));
    });
    socket.addEventListener('close', () => {
      if (this.state.ended === null) this.fail(null);
    });
  }

  private fail(problem: Problem | null): void {
    if (this.over.signal.aborted) return;
    const isFinal = problem !== null && FINAL_STATUSES.includes(problem.status);
    this.change({ status: isFinal ? 'refused' : 'broken', isController: false, problem });
    if (isFinal) return;
    const timer = setTimeout(() => void this.connect(), this.pauseMs);
    this.over.signal.addEventListener('abort', () => clearTimeout(timer));
    this.pauseMs = Math.min(LONGEST_PAUSE_MS, this.pauseMs * 2);
  }

  private show(bytes: Uint8Array): void {
    const replayed = Math.min(this.replayLeft, bytes.length);
    this.replayLeft -= replayed;
    if (this.position !== null) this.position += bytes.length - replayed;
    this.events.output(bytes);
  }

  private hear(message: TerminalMessage): void {
    switch (message.type) {
      case 'attached': {
        const { terminal, isController, offset, replayBytes } = message;
        this.position = offset;
        this.replayLeft = replayBytes;
        this.pauseMs = FIRST_PAUSE_MS;
        this.events.resized(terminal.cols, terminal.rows);
        const { viewers, isControlled } = terminal;
        return this.change({ status: 'open', isController, isControlled, viewers, problem: null });
      }
      case 'viewers': {
        const { isController, isControlled, count } = message;
        return this.change({ isController, isControlled, viewers: count });
      }
      case 'resized':
        return this.events.resized(message.cols, message.rows);
      case 'skipped':
        if (this.position !== null) this.position += message.bytes;
        return this.events.skipped(message.bytes);
      case 'ended':
        return this.change({ status: 'ended', isController: false, ended: message.terminal });
      case 'refused':
        // What may not be done is not offered: only a change of control that crossed with a key comes here.
        return;
    }
  }

  private change(change: Partial<LinkState>): void {
    this.state = { ...this.state, ...change };
    this.events.changed(this.state);
  }
}
