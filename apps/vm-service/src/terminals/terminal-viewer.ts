import type { AttachedMessage, TerminalMessage, TerminalMode } from '@inquest/contracts-vm';
import type { OutputRing } from './output-ring';

/** Bytes that are on their way to a viewer, at most. The rest of the output waits for it in the ring. */
const WINDOW_BYTES = 256 * 1024;
const CHUNK_BYTES = 32 * 1024;
/** Messages that a viewer does not take pile up in its socket; this many bytes of them say that it never will. */
const MAX_BACKLOG_BYTES = 1024 * 1024;

/** The socket of a viewer, as far as output goes. */
export interface ViewerSocket {
  /** Of what was sent, bytes that the network has not taken yet. */
  readonly bufferedAmount: number;
  /** A binary message; `taken` is called when the network has taken it, or never will. */
  sendBytes(bytes: Uint8Array, taken: () => void): void;
  sendMessage(message: TerminalMessage): void;
  /** Closes it when everything sent was taken. */
  end(): void;
  /** Cuts it off. */
  drop(reason: string): void;
}

/** One viewer of a terminal: takes output at its own pace, and loses what the ring does not keep for it. */
export class TerminalViewer {
  private position = 0;
  private onTheWay = 0;
  private last: TerminalMessage | null = null;

  /** `progressed` is called whenever it has taken something. */
  constructor(
    readonly mode: TerminalMode,
    private readonly socket: ViewerSocket,
    private readonly ring: OutputRing,
    private readonly progressed: () => void,
  ) {}

  /** It has been sent everything that was shown. */
  get isCurrent(): boolean {
    return this.position === this.ring.end;
  }

  /** The first message, the replay that it announces, and all output from there on. */
  begin(message: AttachedMessage, replay: Buffer): void {
    this.position = message.offset;
    this.send(message);
    if (replay.length > 0) this.sendBytes(replay);
  }

  send(message: TerminalMessage): void {
    this.socket.sendMessage(message);
    if (this.socket.bufferedAmount > MAX_BACKLOG_BYTES) this.socket.drop('it takes nothing that is sent to it');
  }

  /** Sends what it has room for. */
  advance(): void {
    while (!this.isCurrent && this.onTheWay < WINDOW_BYTES) {
      const { start } = this.ring;
      if (this.position < start) {
        this.send({ type: 'skipped', bytes: start - this.position });
        this.position = start;
      }
      const bytes = this.ring.read(this.position, Math.min(CHUNK_BYTES, WINDOW_BYTES - this.onTheWay));
      this.position += bytes.length;
      this.sendBytes(bytes);
    }
    if (this.isCurrent && this.last !== null) {
      this.send(this.last);
      this.last = null;
      this.socket.end();
    }
  }

  /** Nothing comes any more: sends the rest of the output, then `last`, then closes. */
  finish(last: TerminalMessage): void {
    this.last = last;
    this.advance();
  }

  private sendBytes(bytes: Buffer): void {
    this.onTheWay += bytes.length;
    this.socket.sendBytes(bytes, () => {
      this.onTheWay -= bytes.length;
      this.advance();
      this.progressed();
    });
  }
}
