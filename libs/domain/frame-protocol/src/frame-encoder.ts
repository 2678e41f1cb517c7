import { frameError } from './errors';
import { KIND_BYTE, type DataKind } from './frame';
import { END_FRAME_BYTES, LENGTH_PREFIX_BYTES, MAX_CONTROL_FRAME_BYTES, MAX_DATA_BYTES } from './limits';

const HEADER_BYTES = LENGTH_PREFIX_BYTES + 1;

/** One control frame. `body` must be serialisable. Throws `REQUEST_OVERSIZED` when its JSON is above 1 MiB. */
export function encodeControl(body: object): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(body));
  if (json.length > MAX_CONTROL_FRAME_BYTES) {
    throw frameError(
      'REQUEST_OVERSIZED',
      `a control frame of ${json.length} bytes is above ${MAX_CONTROL_FRAME_BYTES}`,
      {
        sizeBytes: json.length,
      },
    );
  }
  const frame = new Uint8Array(LENGTH_PREFIX_BYTES + json.length);
  writeLength(frame, json.length);
  frame.set(json, LENGTH_PREFIX_BYTES);
  return frame;
}

/** One data frame, with `bytes` copied into it. Throws `REQUEST_OVERSIZED` above `MAX_DATA_BYTES`; see `chunkData`. */
export function encodeData(kind: DataKind, bytes: Uint8Array): Uint8Array {
  if (bytes.length > MAX_DATA_BYTES) {
    throw frameError('REQUEST_OVERSIZED', `a data frame of ${bytes.length} bytes is above ${MAX_DATA_BYTES}`, {
      sizeBytes: bytes.length,
    });
  }
  const frame = new Uint8Array(HEADER_BYTES + bytes.length);
  writeDataHeader(frame, kind, bytes.length);
  frame.set(bytes, HEADER_BYTES);
  return frame;
}

/**
 * Data of any size as data frames, without copying it: the pieces, written in order, are the frames. A payload piece is a
 * view of `bytes`. No bytes give no frame.
 */
export function* chunkData(kind: DataKind, bytes: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += MAX_DATA_BYTES) {
    const payload = bytes.subarray(at, at + MAX_DATA_BYTES);
    const header = new Uint8Array(HEADER_BYTES);
    writeDataHeader(header, kind, payload.length);
    yield header;
    yield payload;
  }
}

/** The frame that ends the data of one direction. */
export function encodeEnd(): Uint8Array {
  const frame = new Uint8Array(LENGTH_PREFIX_BYTES + END_FRAME_BYTES);
  writeLength(frame, END_FRAME_BYTES);
  frame[LENGTH_PREFIX_BYTES] = KIND_BYTE.end;
  return frame;
}

function writeDataHeader(frame: Uint8Array, kind: DataKind, dataLength: number): void {
  writeLength(frame, dataLength + 1);
  frame[LENGTH_PREFIX_BYTES] = KIND_BYTE[kind];
}

const writeLength = (frame: Uint8Array, length: number): void => new DataView(frame.buffer).setUint32(0, length);
