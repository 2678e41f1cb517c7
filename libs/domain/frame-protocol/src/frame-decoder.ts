import { type DomainError } from '@inquest/kernel';
import { frameError } from './errors';
import { findKind, KIND_BYTE, MAX_FRAME_BYTES, type Frame, type FrameKind, type JsonObject } from './frame';
import { LENGTH_PREFIX_BYTES, MAX_CONTROL_FRAME_BYTES } from './limits';

/** A frame whose kind is known and whose payload is still arriving. */
interface PartialFrame {
  readonly kind: FrameKind;
  /** Payload bytes that are still to come after the kind byte. */
  missingBytes: number;
  /** The payload so far; null until a chunk ends inside the frame, because a whole frame needs no copy. */
  collected: Uint8Array | null;
}

/**
 * Cuts a stream of bytes into frames. Every way of splitting the same bytes gives the same frames, followed by the same
 * error if there is one. Holds at most one frame (1 MiB) and copies a data byte at most once.
 */
export class FrameDecoder {
  private readonly prefix = new Uint8Array(LENGTH_PREFIX_BYTES);
  private prefixLength = 0;
  private length = 0;
  private partial: PartialFrame | null = null;
  private failure: DomainError | null = null;

  /**
   * The frames that `chunk` completes. Iterate to the end before the next call; `chunk` must not be reused after it,
   * frames may be views of it. Throws `FRAME_OVERSIZED`, `FRAME_EMPTY`, `FRAME_KIND_UNKNOWN` or `FRAME_JSON_INVALID`
   * after the frames before the bad one; from then on every call throws the same error.
   */
  *push(chunk: Uint8Array): Generator<Frame, void, undefined> {
    if (this.failure !== null) throw this.failure;
    let at = 0;
    while (at < chunk.length) {
      if (this.prefixLength < LENGTH_PREFIX_BYTES) {
        at += this.readPrefix(chunk.subarray(at));
      } else if (this.partial === null) {
        this.partial = this.startFrame(chunk[at++] as number);
      } else {
        at += this.readPayload(this.partial, chunk.subarray(at));
      }
      if (this.partial?.missingBytes === 0) yield this.finishFrame(this.partial);
    }
  }

  /** Declares the end of the bytes. Throws `FRAME_TRUNCATED` inside a frame, or the error that `push` threw before. */
  end(): void {
    if (this.failure !== null) throw this.failure;
    if (this.prefixLength === 0) return;
    const missingBytes = this.partial?.missingBytes ?? null;
    throw this.fail(frameError('FRAME_TRUNCATED', 'the stream ended inside a frame', { missingBytes }));
  }

  private readPrefix(bytes: Uint8Array): number {
    const taken = bytes.subarray(0, LENGTH_PREFIX_BYTES - this.prefixLength);
    this.prefix.set(taken, this.prefixLength);
    this.prefixLength += taken.length;
    if (this.prefixLength === LENGTH_PREFIX_BYTES) {
      this.length = new DataView(this.prefix.buffer).getUint32(0);
      if (this.length === 0) throw this.fail(frameError('FRAME_EMPTY', 'a frame announces the length 0'));
      if (this.length > MAX_CONTROL_FRAME_BYTES)
        throw this.fail(oversized('frame', this.length, MAX_CONTROL_FRAME_BYTES));
    }
    return taken.length;
  }

  private startFrame(kindByte: number): PartialFrame {
    const kind = findKind(kindByte);
    if (kind === null) {
      throw this.fail(
        frameError('FRAME_KIND_UNKNOWN', `a frame starts with the byte ${kindByte}, which is no kind`, { kindByte }),
      );
    }
    const limit = MAX_FRAME_BYTES[kind];
    if (this.length > limit) throw this.fail(oversized(`${kind} frame`, this.length, limit));
    return { kind, missingBytes: this.length - 1, collected: null };
  }

  private readPayload(partial: PartialFrame, bytes: Uint8Array): number {
    const taken = bytes.subarray(0, partial.missingBytes);
    if (partial.collected === null && taken.length === partial.missingBytes) {
      partial.collected = taken;
    } else {
      partial.collected ??= new Uint8Array(partial.missingBytes);
      partial.collected.set(taken, partial.collected.length - partial.missingBytes);
    }
    partial.missingBytes -= taken.length;
    return taken.length;
  }

  private finishFrame({ kind, collected }: PartialFrame): Frame {
    this.partial = null;
    this.prefixLength = 0;
    const bytes = collected ?? new Uint8Array(0);
    if (kind === 'end') return { kind };
    return kind === 'control' ? { kind, body: this.parseJson(bytes) } : { kind, bytes };
  }

  private parseJson(bytesAfterBrace: Uint8Array): JsonObject {
    try {
      // The brace was taken as the kind byte. A text that starts with it is an object or no JSON at all.
      const text = String.fromCharCode(KIND_BYTE.control) + strictUtf8.decode(bytesAfterBrace);
      return JSON.parse(text) as JsonObject;
    } catch (e) {
      const sizeBytes = bytesAfterBrace.length + 1;
      throw this.fail(
        frameError('FRAME_JSON_INVALID', `a control frame of ${sizeBytes} bytes is no JSON object`, { sizeBytes }, e),
      );
    }
  }

  private fail(error: DomainError): DomainError {
    this.failure = error;
    this.partial = null;
    return error;
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const oversized = (what: string, sizeBytes: number, limitBytes: number): DomainError =>
  frameError('FRAME_OVERSIZED', `a ${what} announces ${sizeBytes} bytes, the limit is ${limitBytes}`, {
    sizeBytes,
    limitBytes,
  });
