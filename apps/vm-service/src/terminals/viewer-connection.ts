import { WebSocket, type RawData } from 'ws';
import type { AttachTerminalRequest, TerminalMessage } from '@inquest/contracts-vm';
import { toDomainError } from '@inquest/kernel';
import type { Terminal } from './terminal';
import type { TerminalViewer, ViewerSocket } from './terminal-viewer';
import { parseViewerMessage } from './viewer-message';

/** Typed bytes that wait for the guest, at most; then the viewer is read no further. */
const MAX_PENDING_INPUT_BYTES = 64 * 1024;
/** Close codes of RFC 6455, section 7.4.1. */
const CLOSE_NORMAL = 1000;

/** A viewer's WebSocket: output and messages one way, typing and messages the other. */
export class ViewerConnection implements ViewerSocket {
  private readonly viewer: TerminalViewer;
  private pendingBytes = 0;
  private typing = Promise.resolve();
  private hasAnswered = true;

  /** Owns `socket`. One that does not answer a ping within `pingMs` is dropped. */
  constructor(
    private readonly socket: WebSocket,
    private readonly terminal: Terminal,
    { mode, fromOffset }: AttachTerminalRequest,
    pingMs: number,
  ) {
    const pinging = setInterval(() => this.ping(), pingMs).unref();
    socket.once('close', () => {
      clearInterval(pinging);
      terminal.audience.leave(this.viewer);
      terminal.touch();
    });
    // The close that follows is what matters.
    socket.on('error', () => undefined);
    socket.on('pong', () => (this.hasAnswered = true));
    socket.on('message', (data, isBinary) => this.take(data, isBinary));
    terminal.touch();
    this.viewer = terminal.audience.join(this, mode, fromOffset, () => terminal.view);
  }

  get bufferedAmount(): number {
    return this.socket.bufferedAmount;
  }

  sendBytes(bytes: Uint8Array, taken: () => void): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(bytes, { binary: true }, taken);
  }

  sendMessage(message: TerminalMessage): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  end(): void {
    this.socket.close(CLOSE_NORMAL);
  }

  drop(): void {
    this.socket.terminate();
  }

  private take(data: RawData, isBinary: boolean): void {
    // With the default binary type of ws a message is one buffer.
    const bytes = data as Buffer;
    if (isBinary) return this.type(bytes);
    try {
      this.act(bytes.toString('utf8'));
    } catch (e) {
      this.refuse(e);
    }
  }

  private type(bytes: Buffer): void {
    this.pendingBytes += bytes.length;
    if (this.pendingBytes > MAX_PENDING_INPUT_BYTES) this.socket.pause();
    this.then(bytes.length, () => this.terminal.type(this.viewer, bytes));
  }

  private act(text: string): void {
    const message = parseViewerMessage(text);
    switch (message.type) {
      case 'take-control':
        return this.terminal.audience.takeControl(this.viewer);
      case 'release-control':
        return this.terminal.audience.releaseControl(this.viewer);
      case 'resize':
        return this.terminal.resize(this.viewer, { cols: message.cols, rows: message.rows });
      case 'end-input':
        return this.then(0, () => this.terminal.typeEndOfFile(this.viewer));
    }
  }

  /** After everything that was typed before. */
  private then(sizeBytes: number, act: () => Promise<void>): void {
    this.typing = this.typing
      .then(act)
      .catch((e: unknown) => this.refuse(e))
      .finally(() => {
        this.pendingBytes -= sizeBytes;
        if (this.socket.isPaused && this.pendingBytes <= MAX_PENDING_INPUT_BYTES) this.socket.resume();
      });
  }

  private refuse(e: unknown): void {
    const { code, message } = toDomainError(e);
    this.viewer.send({ type: 'refused', code, message });
  }

  private ping(): void {
    // What is not read does not show whether the viewer is there.
    if (this.socket.isPaused) return;
    if (!this.hasAnswered) return this.drop();
    this.hasAnswered = false;
    this.socket.ping();
  }
}
