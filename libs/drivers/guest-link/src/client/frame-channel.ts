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
  private readonly frames: AsyncGenerator<Frame, void, undefined>;

  /** Owns `stream`. `what` names the work in messages. */
  constructor(
    private readonly stream: Duplex,
    private readonly what: string,
  ) {
    this.frames = this.decode();
  }

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
    const result = await this.frames.next();
    if (result.done) throw linkError('LINK_CLOSED', `${this.what}: the guest ended the stream before it had answered`);
    return result.value;
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

  private async *decode(): AsyncGenerator<Frame, void, undefined> {
    const decoder = new FrameDecoder();
    try {
      for await (const chunk of this.stream.iterator({ destroyOnReturn: false })) yield* decoder.push(chunk as Buffer);
      decoder.end();
    } catch (e) {
      const error = isDomainError(e) ? e : this.lost(e);
      this.close(error);
      throw error;
    }
  }

  private lost(cause: unknown): DomainError {
    if (isDomainError(cause)) return cause;
    return linkError('LINK_CLOSED', `${this.what}: the stream to the guest broke`, {}, cause);
  }
}
