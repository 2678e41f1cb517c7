import { type Duplex } from 'node:stream';
import { isDomainError, type DomainError } from '@inquest/kernel';
import {
  chunkData,
  encodeControl,
  encodeEnd,
  frameError,
  FrameDecoder,
  type DataKind,
  type Frame,
  type JsonObject,
} from '@inquest/frame-protocol';
import { linkError } from '../errors';

/** Frames over one stream of a link. Everything it throws is a `DomainError`; then its user closes it. */
export class FrameChannel {
  private readonly decoder = new FrameDecoder();
  /** Frames of the chunk that was read last. */
  private frames: Iterator<Frame, void, undefined> = [].values();
  private failure: DomainError | null = null;
  /** Ends the wait for bytes; null before the first one. */
  private wake: (() => void) | null = null;

  /** Owns `stream`. `what` names the work in messages. */
  constructor(
    private readonly stream: Duplex,
    private readonly what: string,
  ) {}

  /** Sends a control frame. Throws `REQUEST_OVERSIZED` before a byte is sent. */
  sendControl(body: object): Promise<void> {
    return this.write([encodeControl(body)]);
  }

  /** Sends data of any size; resolves when the stream takes more, so a slow reader slows the sender. */
  sendData(kind: DataKind, bytes: Uint8Array): Promise<void> {
    return this.write(chunkData(kind, bytes));
  }

  /** Ends the data of this direction. */
  sendEnd(): Promise<void> {
    return this.write([encodeEnd()]);
  }

  /** The next frame. Throws `LINK_CLOSED` when the stream ends instead, or a `FRAME_*` code. One call at a time. */
  async next(): Promise<Frame> {
    if (this.failure !== null) throw this.failure;
    try {
      for (;;) {
        const frame = this.frames.next();
        if (!frame.done) return frame.value;
        this.frames = this.decoder.push(await this.read());
      }
    } catch (e) {
      this.failure = isDomainError(e) ? e : this.lost(e);
      this.close(this.failure);
      throw this.failure;
    }
  }

  /** The next frame, which must be a control frame. Throws `FRAME_ORDER_INVALID` when it is data. */
  async nextControl(): Promise<JsonObject> {
    const frame = await this.next();
    if (frame.kind !== 'control') throw this.outOfOrder(frame);
    return frame.body;
  }

  /** The error for a frame that may not come now. */
  outOfOrder(frame: Frame): DomainError {
    return frameError('FRAME_ORDER_INVALID', `${this.what}: the guest sent a ${frame.kind} frame out of turn`, {
      kind: frame.kind,
    });
  }

  /** Drops the stream, which ends the op in the guest if it still runs. Idempotent. */
  close(reason?: Error): void {
    this.stream.destroy(reason);
  }

  private async write(pieces: Iterable<Uint8Array>): Promise<void> {
    if (!this.stream.writable) throw this.lost(this.stream.errored);
    let isFull = false;
    this.stream.cork();
    for (const piece of pieces) isFull = !this.stream.write(piece);
    this.stream.uncork();
    if (isFull) await this.drained();
  }

  private drained(): Promise<void> {
    return new Promise((resolve, reject) => {
      const onDrain = (): void => {
        this.stream.off('close', onClose);
        resolve();
      };
      const onClose = (): void => {
        this.stream.off('drain', onDrain);
        reject(this.lost(this.stream.errored));
      };
      this.stream.once('drain', onDrain).once('close', onClose);
      if (this.stream.closed) onClose();
    });
  }

  /** The next bytes. The stream's own iterator would make an error, with its stack, of each stream that is closed early. */
  private async read(): Promise<Buffer> {
    const { stream } = this;
    for (;;) {
      const chunk = stream.destroyed ? null : (stream.read() as Buffer | null);
      if (chunk !== null) return chunk;
      if (stream.errored) throw stream.errored;
      if (stream.readableEnded) throw this.ended();
      if (stream.destroyed) throw this.lost(null);
      await this.readable();
    }
  }

  private readable(): Promise<void> {
    if (this.wake === null) {
      const onChange = (): void => this.wake?.();
      this.stream.on('readable', onChange).on('end', onChange).on('error', onChange).on('close', onChange);
    }
    return new Promise((resolve) => (this.wake = resolve));
  }

  private ended(): DomainError {
    this.decoder.end();
    return linkError('LINK_CLOSED', `${this.what}: the guest ended the stream before it had answered`);
  }

  private lost(cause: unknown): DomainError {
    if (isDomainError(cause)) return cause;
    return linkError('LINK_CLOSED', `${this.what}: the stream to the guest broke`, {}, cause);
  }
}
