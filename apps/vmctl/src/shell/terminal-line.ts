import type { WebSocket } from 'ws';
import {
  TERMINAL_PROTOCOL,
  TERMINAL_TICKET_PREFIX,
  TerminalTicket,
  type TerminalMessage,
  type TerminalMode,
  type TerminalView,
  type ViewerMessage,
} from '@inquest/contracts-vm';
import type { GatewayClient } from '../api/gateway-client';
import { cliError } from '../errors';

/** A message of a viewer may have 64 KiB; a longer paste goes in several. */
const MAX_MESSAGE_BYTES = 32 * 1024;

/** Which terminal to look at, and how. */
export interface Viewing {
  readonly machineId: string;
  readonly terminalId: string;
  readonly mode: TerminalMode;
  /** Of the output, where an earlier line broke off; null for the first one. */
  readonly fromOffset: number | null;
}

/** What a line brings. */
export interface LineEvents {
  /** Resolves when more can be taken: the terminal waits for who is slow. */
  output(bytes: Uint8Array): Promise<void>;
  message(message: TerminalMessage, line: TerminalLine): void;
}

/** One connection to a terminal. */
export class TerminalLine {
  /** Resolves when it is over: with the terminal when that has ended, else with null. Never rejects. */
  readonly done: Promise<TerminalView | null>;
  private position: number | null = null;
  private replayLeft = 0;
  private ended: TerminalView | null = null;
  private work = Promise.resolve();

  private constructor(
    private readonly socket: WebSocket,
    private readonly events: LineEvents,
  ) {
    socket.on('message', (data, isBinary) => this.take(data as Buffer, isBinary));
    // The close that follows is what matters.
    socket.on('error', () => undefined);
    this.done = new Promise((resolve) => {
      socket.once('close', () => void this.work.finally(() => resolve(this.ended)));
    });
  }

  /** Throws what the gateway refuses with, `CLI_PLATFORM_DOWN`, `CLI_ANSWER_INVALID`. */
  static async open(gateway: GatewayClient, viewing: Viewing, events: LineEvents): Promise<TerminalLine> {
    const { machineId, terminalId, mode, fromOffset } = viewing;
    const { ticket } = await gateway.call(
      TerminalTicket,
      'POST',
      `/v1/machines/${machineId}/terminals/${terminalId}/attach`,
      { body: { mode, fromOffset } },
    );
    const protocols = [TERMINAL_PROTOCOL, `${TERMINAL_TICKET_PREFIX}${ticket}`];
    let line: TerminalLine | null = null;
    // Its first message may come in the same packet as the handshake.
    await gateway.webSocket(`/v1/machines/${machineId}/terminal-socket`, protocols, (socket) => {
      line = new TerminalLine(socket, events);
    });
    if (line === null) throw cliError('CLI_ANSWER_INVALID', 'the terminal was not opened');
    return line;
  }

  /** Where another line can go on; null before the first output. */
  get offset(): number | null {
    return this.position;
  }

  type(keys: Uint8Array): void {
    for (let at = 0; at < keys.length; at += MAX_MESSAGE_BYTES) {
      this.socket.send(keys.subarray(at, at + MAX_MESSAGE_BYTES), { binary: true }, ignoreClosed);
    }
  }

  say(message: ViewerMessage): void {
    this.socket.send(JSON.stringify(message), ignoreClosed);
  }

  /** The terminal goes on. */
  leave(): void {
    this.socket.close();
  }

  private take(data: Buffer, isBinary: boolean): void {
    this.socket.pause();
    this.work = this.work
      .then(() => (isBinary ? this.show(data) : this.hear(JSON.parse(data.toString('utf8')) as TerminalMessage)))
      // Output that cannot be shown, or a message that is none: the line is of no use any more.
      .catch(() => this.socket.terminate())
      .finally(() => this.socket.resume());
  }

  private async show(bytes: Buffer): Promise<void> {
    const replayed = Math.min(this.replayLeft, bytes.length);
    this.replayLeft -= replayed;
    if (this.position !== null) this.position += bytes.length - replayed;
    await this.events.output(bytes);
  }

  private hear(message: TerminalMessage): void {
    if (message.type === 'attached') {
      this.position = message.offset;
      this.replayLeft = message.replayBytes;
    }
    if (message.type === 'skipped' && this.position !== null) this.position += message.bytes;
    if (message.type === 'ended') this.ended = message.terminal;
    this.events.message(message, this);
  }
}

/** What is typed into a line that has just closed is lost; that it closed is told by `done`. */
const ignoreClosed = (): void => undefined;
