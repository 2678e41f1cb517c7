import { isUtf8 } from 'node:buffer';
import type { ExecOutputView } from '@inquest/contracts-vm';
import type { BoundedOutput } from '@inquest/guest-link';
import { leadingContinuations, wholeCharacters } from '@inquest/kernel';

/** Of one text inside a reply, as JSON: two of them and the rest fit into a NATS message of 1 MiB. */
const MAX_JSON_BYTES = 448 * 1024;

/** Bytes of a guest as text. */
export interface ReplyText {
  readonly text: string;
  /** Bytes that are not UTF-8 were replaced. */
  readonly isLossy: boolean;
  /** How many of the bytes are in `text`. */
  readonly keptBytes: number;
}

/**
 * As many of the first bytes as fit into a reply. JSON writes a NUL in six characters, so what a guest made to fit by
 * its size need not fit as text. `isCut` says that the bytes are the front of something longer.
 */
export function replyText(bytes: Uint8Array, isCut: boolean): ReplyText {
  for (let part = bytes; ; part = bytes.subarray(0, part.length >> 1)) {
    const whole = isCut || part.length < bytes.length ? part.subarray(0, wholeCharacters(part)) : part;
    const text = textOf(whole);
    if (fits(text)) return { text, isLossy: !isUtf8(whole), keptBytes: whole.length };
  }
}

/** One output of a command, with its middle left out where head and tail do not hold all of it or do not fit. */
export function execOutputView({ head, tail, totalBytes }: BoundedOutput): ExecOutputView {
  if (head.length + tail.length === totalBytes) {
    const all = Buffer.concat([head, tail]);
    const text = textOf(all);
    if (fits(text)) return { text, isLossy: !isUtf8(all), totalBytes, droppedBytes: 0 };
  }
  for (let [first, last] = [head, tail]; ; [first, last] = [firstHalf(first), lastHalf(last)]) {
    const view = cutView(first, last, totalBytes);
    if (fits(view.text)) return view;
  }
}

function cutView(head: Uint8Array, tail: Uint8Array, totalBytes: number): ExecOutputView {
  const first = head.subarray(0, wholeCharacters(head));
  const last = tail.subarray(leadingContinuations(tail));
  const droppedBytes = totalBytes - first.length - last.length;
  return {
    text: `${textOf(first)}\n[${droppedBytes} bytes left out]\n${textOf(last)}`,
    isLossy: !isUtf8(first) || !isUtf8(last),
    totalBytes,
    droppedBytes,
  };
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
const fits = (text: string): boolean => Buffer.byteLength(JSON.stringify(text)) <= MAX_JSON_BYTES;
const firstHalf = (bytes: Uint8Array): Uint8Array => bytes.subarray(0, bytes.length >> 1);
const lastHalf = (bytes: Uint8Array): Uint8Array => bytes.subarray(bytes.length - (bytes.length >> 1));
