import { END_FRAME_BYTES, MAX_CONTROL_FRAME_BYTES, MAX_DATA_FRAME_BYTES } from './limits';

/** First payload byte of each kind of frame. A control frame starts with the brace of its JSON object. */
export const KIND_BYTE = {
  control: 0x7b,
  'data-to-guest': 0x00,
  stdout: 0x01,
  stderr: 0x02,
  'data-from-guest': 0x03,
  end: 0x04,
} as const;

export type FrameKind = keyof typeof KIND_BYTE;

/** Kinds that carry bulk bytes. */
export type DataKind = Exclude<FrameKind, 'control' | 'end'>;

/** A parsed JSON object whose properties nobody has checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** One decoded frame. `bytes` may be a view of the chunk that it arrived in. */
export type Frame =
  | { readonly kind: 'control'; readonly body: JsonObject }
  | { readonly kind: DataKind; readonly bytes: Uint8Array }
  | { readonly kind: 'end' };

/** Largest length N of each kind. */
export const MAX_FRAME_BYTES: Readonly<Record<FrameKind, number>> = {
  control: MAX_CONTROL_FRAME_BYTES,
  'data-to-guest': MAX_DATA_FRAME_BYTES,
  stdout: MAX_DATA_FRAME_BYTES,
  stderr: MAX_DATA_FRAME_BYTES,
  'data-from-guest': MAX_DATA_FRAME_BYTES,
  end: END_FRAME_BYTES,
};

const KIND_OF_BYTE: ReadonlyMap<number, FrameKind> = new Map(
  (Object.keys(KIND_BYTE) as FrameKind[]).map((kind) => [KIND_BYTE[kind], kind]),
);

/** The kind that a first payload byte announces; null when there is none. */
export const findKind = (byte: number): FrameKind | null => KIND_OF_BYTE.get(byte) ?? null;
