import { type Duplex } from 'node:stream';
import { encodeHeader, FRAME_TYPE } from './header';
import { type YamuxStream } from './yamux-stream';

/** Most data in one frame: a bulk stream delays the others by no more than this. */
const MAX_FRAME_DATA_BYTES = 64 * 1024;

/** Shares the transport between the streams that have something to send: one frame each, in turn, while it takes bytes. */
export class SendScheduler {
  private readonly ready = new Set<YamuxStream>();
  private isSending = false;

  constructor(private readonly transport: Duplex) {
    transport.on('drain', () => this.sendReady());
  }

  /** The stream has bytes and may have window for them. */
  add(stream: YamuxStream): void {
    this.ready.add(stream);
    this.sendReady();
  }

  remove(stream: YamuxStream): void {
    this.ready.delete(stream);
  }

  private sendReady(): void {
    // Ending a write call may schedule the next one from inside this loop, which then takes it up itself.
    if (this.isSending) return;
    this.isSending = true;
    // One system call for header and data.
    this.transport.cork();
    for (const stream of this.ready) {
      if (this.transport.writableNeedDrain || !this.transport.writable) break;
      this.ready.delete(stream);
      this.sendFrame(stream);
    }
    this.transport.uncork();
    this.isSending = false;
  }

  private sendFrame(stream: YamuxStream): void {
    const sizeBytes = stream.sendableBytes(MAX_FRAME_DATA_BYTES);
    if (sizeBytes === 0) return;
    this.transport.write(encodeHeader(FRAME_TYPE.data, 0, stream.id, sizeBytes));
    for (const piece of stream.takeUnsent(sizeBytes)) this.transport.write(piece);
    // Only now: the end of a write call may send a FIN, which must not come between header and data.
    stream.finishSend();
    if (stream.sendableBytes(MAX_FRAME_DATA_BYTES) > 0) this.ready.add(stream);
  }
}
