import { decodeHeader, FRAME_TYPE, HEADER_BYTES, type YamuxHeader } from './header';

/** Receives what a parser finds. May throw to stop it. */
export interface YamuxSink {
  /** Called before the payload of the frame, which may still be on its way. */
  onHeader(header: YamuxHeader): void;
  /** A piece of the payload of the last data header, as a view of the chunk; never empty. */
  onPayload(bytes: Buffer): void;
}

/** Cuts the bytes of a session into headers and payload pieces. Holds at most one partial header; copies no payload. */
export class YamuxParser {
  private readonly partialHeader = Buffer.alloc(HEADER_BYTES);
  private partialLength = 0;
  private payloadLeft = 0;

  constructor(private readonly sink: YamuxSink) {}

  /** Throws `MUX_FRAME_INVALID`, or what the sink throws; then the session is lost and the parser must not be used again. */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.payloadLeft > 0) {
        const payload = chunk.subarray(at, at + this.payloadLeft);
        at += payload.length;
        this.payloadLeft -= payload.length;
        this.sink.onPayload(payload);
      } else {
        at += this.readHeader(chunk, at);
      }
    }
  }

  private readHeader(chunk: Buffer, at: number): number {
    const copied = chunk.copy(this.partialHeader, this.partialLength, at, at + HEADER_BYTES - this.partialLength);
    this.partialLength += copied;
    if (this.partialLength === HEADER_BYTES) {
      this.partialLength = 0;
      const header = decodeHeader(this.partialHeader);
      if (header.type === FRAME_TYPE.data) this.payloadLeft = header.length;
      this.sink.onHeader(header);
    }
    return copied;
  }
}
