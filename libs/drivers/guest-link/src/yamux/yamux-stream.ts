import { Duplex } from 'node:stream';
import { linkError } from '../errors';
import { FLAG, INITIAL_WINDOW_BYTES, type YamuxHeader } from './header';
import { ReceiveBuffer } from './receive-buffer';
import { SendBuffer } from './send-buffer';

/** What a stream needs from its session. */
export interface YamuxStreamSession {
  /** Grants `credit` bytes to the peer, or sends flags when it is 0. */
  sendWindowUpdate(streamId: number, flags: number, credit: number): void;
  /** Sends what the stream has to send as soon as the transport takes bytes; streams take turns. */
  scheduleSend(stream: YamuxStream): void;
  /** The stream is destroyed: forget it. */
  release(stream: YamuxStream): void;
}

type WriteCallback = (error?: Error | null) => void;

/** How far writers may run ahead of the send window, in bytes. */
const WRITE_BUFFER_BYTES = 64 * 1024;
/** hashicorp/yamux keeps windows in a uint32: no honest peer grants more. */
const MAX_SEND_WINDOW_BYTES = 0xffff_ffff;

/**
 * One yamux stream. Credit goes back to the peer only when the reader asks for more, so a stream that nobody reads holds
 * at most one window. `destroy` resets the stream unless both sides have finished.
 */
export class YamuxStream extends Duplex {
  private receiveWindow = INITIAL_WINDOW_BYTES;
  private sendWindow = INITIAL_WINDOW_BYTES;
  private readonly received = new ReceiveBuffer();
  private isReaderWaiting = false;
  private uncreditedBytes = 0;
  private isRemoteFinished = false;
  private isLocalFinished = false;
  private isReset = false;
  private sessionFailure: Error | null = null;
  private unsent: { readonly bytes: SendBuffer; readonly done: WriteCallback } | null = null;

  constructor(
    readonly id: number,
    private readonly session: YamuxStreamSession,
  ) {
    // One byte: Duplex must not buffer ahead of its reader, or the window would open for bytes that nobody consumed.
    super({ allowHalfOpen: true, readableHighWaterMark: 1, writableHighWaterMark: WRITE_BUFFER_BYTES });
    // A peer may reset a stream while nobody listens; that must not end the process.
    this.on('error', () => undefined);
  }

  /** Takes a header of this stream. Throws `MUX_WINDOW_EXCEEDED` or `MUX_FRAME_INVALID`, which ends the session. */
  receiveHeader({ flags, length }: YamuxHeader, isData: boolean): void {
    if (isData) this.reserveWindow(length);
    else this.grant(length);
    if ((flags & FLAG.rst) !== 0) this.receiveReset();
  }

  /** Takes payload that `receiveHeader` has announced. */
  receivePayload(bytes: Buffer): void {
    if (this.destroyed) return;
    if (this.isReaderWaiting && this.received.isEmpty) this.deliver(bytes);
    else this.received.append(bytes);
  }

  /** The peer sends no more. Called after the payload of the frame that said so. */
  receiveFinish(): void {
    if (this.isRemoteFinished) throw linkError('MUX_FRAME_INVALID', `stream ${this.id} is finished twice`);
    this.isRemoteFinished = true;
    if (this.isReaderWaiting && this.received.isEmpty) this.push(null);
  }

  /**
   * The session is lost: fails the stream, but lets the reader have what had arrived before. What a machine said last
   * often tells why it died. Until then writes are swallowed, so that a reader that also writes gets to the end.
   */
  failAfterReading(error: Error): void {
    this.sessionFailure = error;
    if (this.received.isEmpty && this.readableLength === 0) {
      this.destroy(error);
      return;
    }
    // Bytes were put back with `unshift` while a `_read` is open; without an end to it no other `_read` would come.
    if (this.isReaderWaiting) this.push(Buffer.alloc(0));
    const { unsent } = this;
    this.unsent = null;
    unsent?.done();
  }

  /** Bytes that may be sent now, at most `limitBytes`; 0 when there are none or the window is closed. */
  sendableBytes(limitBytes: number): number {
    return Math.min(this.unsent?.bytes.sizeBytes ?? 0, this.sendWindow, limitBytes);
  }

  /** Takes `sizeBytes` (from `sendableBytes`) out of what is to be sent. `finishSend` must follow. */
  takeUnsent(sizeBytes: number): Buffer[] {
    this.sendWindow -= sizeBytes;
    return this.unsent?.bytes.take(sizeBytes) ?? [];
  }

  /** What was taken has been written: ends the write call when nothing of it is left. May send further frames. */
  finishSend(): void {
    const { unsent } = this;
    if (unsent === null || unsent.bytes.sizeBytes > 0) return;
    this.unsent = null;
    unsent.done();
  }

  override _read(): void {
    this.returnCredit();
    const next = this.received.shift();
    if (next !== null) this.deliver(next);
    else if (this.isRemoteFinished) this.push(null);
    else if (this.sessionFailure !== null) this.destroyAfterRead(this.sessionFailure);
    else this.isReaderWaiting = true;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: WriteCallback): void {
    this.startWrite([chunk], done);
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: WriteCallback): void {
    this.startWrite(
      chunks.map(({ chunk }) => chunk),
      done,
    );
  }

  override _final(done: WriteCallback): void {
    this.isLocalFinished = true;
    this.session.sendWindowUpdate(this.id, FLAG.fin, 0);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const isFinished = this.isLocalFinished && this.isRemoteFinished;
    if (!isFinished && !this.isReset) this.session.sendWindowUpdate(this.id, FLAG.rst, 0);
    this.session.release(this);
    this.received.clear();
    const { unsent } = this;
    this.unsent = null;
    unsent?.done(error ?? linkError('LINK_CLOSED', `stream ${this.id} was closed`));
    done(error);
  }

  /** Later, because `_read` runs inside the `read` call that is about to return the last bytes. */
  private destroyAfterRead(error: Error): void {
    process.nextTick(() => this.destroy(error));
  }

  private startWrite(chunks: readonly Buffer[], done: WriteCallback): void {
    const bytes = new SendBuffer(chunks);
    if (bytes.sizeBytes === 0 || this.sessionFailure !== null) return done();
    this.unsent = { bytes, done };
    this.session.scheduleSend(this);
  }

  private deliver(bytes: Buffer): void {
    this.isReaderWaiting = false;
    this.uncreditedBytes += bytes.length;
    this.push(bytes);
  }

  private reserveWindow(sizeBytes: number): void {
    if (sizeBytes > this.receiveWindow) {
      const message = `the peer sends ${sizeBytes} bytes into a window of ${this.receiveWindow}`;
      throw linkError('MUX_WINDOW_EXCEEDED', message, { streamId: this.id });
    }
    if (sizeBytes > 0 && this.isRemoteFinished) {
      throw linkError('MUX_FRAME_INVALID', `the peer sends on stream ${this.id} after it finished it`);
    }
    this.receiveWindow -= sizeBytes;
  }

  private grant(credit: number): void {
    this.sendWindow += credit;
    if (this.sendWindow > MAX_SEND_WINDOW_BYTES) {
      throw linkError('MUX_WINDOW_EXCEEDED', `the peer grants a window of ${this.sendWindow} bytes`, {
        streamId: this.id,
      });
    }
    if (credit > 0 && this.unsent !== null) this.session.scheduleSend(this);
  }

  private receiveReset(): void {
    this.isReset = true;
    this.destroy(linkError('MUX_STREAM_RESET', `the peer reset stream ${this.id}`));
  }

  /** Half a window at a time, as hashicorp/yamux does: a credit for every read would cost a header each. */
  private returnCredit(): void {
    if (this.uncreditedBytes < INITIAL_WINDOW_BYTES / 2 || this.isRemoteFinished) return;
    this.receiveWindow += this.uncreditedBytes;
    this.session.sendWindowUpdate(this.id, 0, this.uncreditedBytes);
    this.uncreditedBytes = 0;
  }
}
