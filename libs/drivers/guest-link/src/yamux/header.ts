import { type DomainError } from '@inquest/kernel';
import { linkError } from '../errors';

/** Constants of https://github.com/hashicorp/yamux/blob/master/spec.md. */
export const HEADER_BYTES = 12;
const VERSION = 0;

export const FRAME_TYPE = { data: 0, windowUpdate: 1, ping: 2, goAway: 3 } as const;
export type FrameType = (typeof FRAME_TYPE)[keyof typeof FRAME_TYPE];

export const FLAG = { syn: 1, ack: 2, fin: 4, rst: 8 } as const;
const ALL_FLAGS = FLAG.syn | FLAG.ack | FLAG.fin | FLAG.rst;

export const GO_AWAY = { normal: 0, protocolError: 1, internalError: 2 } as const;

/** Window of every new stream, in both directions. */
export const INITIAL_WINDOW_BYTES = 256 * 1024;

/**
 * A header as read. `length` is the payload size of a data frame, the credit of a window update, the opaque value of a
 * ping, or the code of a go-away.
 */
export interface YamuxHeader {
  readonly type: FrameType;
  readonly flags: number;
  readonly streamId: number;
  readonly length: number;
}

export function encodeHeader(type: FrameType, flags: number, streamId: number, length: number): Buffer {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header[0] = VERSION;
  header[1] = type;
  header.writeUInt16BE(flags, 2);
  header.writeUInt32BE(streamId, 4);
  header.writeUInt32BE(length, 8);
  return header;
}

/** Reads 12 bytes. Throws `MUX_FRAME_INVALID` on a version, type or flag that yamux does not have. */
export function decodeHeader(bytes: Buffer): YamuxHeader {
  const type = bytes[1] as number;
  const flags = bytes.readUInt16BE(2);
  if (bytes[0] !== VERSION) throw invalid(`version ${bytes[0]}`);
  if (type > FRAME_TYPE.goAway) throw invalid(`type ${type}`);
  if ((flags & ~ALL_FLAGS) !== 0) throw invalid(`flags ${flags}`);
  return { type: type as FrameType, flags, streamId: bytes.readUInt32BE(4), length: bytes.readUInt32BE(8) };
}

const invalid = (what: string): DomainError => linkError('MUX_FRAME_INVALID', `a yamux header has the unknown ${what}`);
