import { MAX_LINE_BYTES } from './encode-entry';
import type { TranscriptEntry } from './entry';
import { entryFrom } from './entry-shape';

/**
 * What is wrong with a part of a transcript. `torn_line`: the last line has no end, so it was being written when its
 * writer died and was never acknowledged. `sequence_gap`: entries are missing. `sequence_repeated`: an entry comes
 * twice or out of order.
 */
export const TRANSCRIPT_PROBLEMS = [
  'torn_line',
  'malformed_line',
  'unknown_type',
  'sequence_gap',
  'sequence_repeated',
] as const;
export type TranscriptProblemKind = (typeof TRANSCRIPT_PROBLEMS)[number];

export interface TranscriptProblem {
  readonly kind: TranscriptProblemKind;
  /** Counted from 1. */
  readonly line: number;
  /** Where that line starts, in bytes. */
  readonly offset: number;
  readonly message: string;
}

/** What a transcript is besides its entries. */
export interface TranscriptSummary {
  /** In the order of the file. At most `MAX_PROBLEMS` are described; `counts` has all of them. */
  readonly problems: readonly TranscriptProblem[];
  readonly counts: Readonly<Record<TranscriptProblemKind, number>>;
  /**
   * Where a writer that continues this file must cut it first: the end of the last whole line. Appending behind a torn
   * line would spoil the entry that follows.
   */
  readonly resumeAtBytes: number;
  /** The sequence of the next entry. */
  readonly nextSequence: number;
}

export interface DecodedTranscript extends TranscriptSummary {
  readonly entries: readonly TranscriptEntry[];
}

/** How many problems are described one by one. */
export const MAX_PROBLEMS = 100;

const NEWLINE = 0x0a;

/** Reads a transcript, or any first part of one. Never throws: what cannot be read is skipped, counted and said. */
export function decodeTranscript(bytes: Uint8Array): DecodedTranscript {
  const decoder = new TranscriptDecoder();
  const entries = decoder.push(bytes);
  return { entries, ...decoder.end() };
}

/** `decodeTranscript` piece by piece, for one that is too long to be in memory as a whole. */
export class TranscriptDecoder {
  private readonly problems: TranscriptProblem[] = [];
  private readonly counts = Object.fromEntries(TRANSCRIPT_PROBLEMS.map((kind) => [kind, 0])) as Record<
    TranscriptProblemKind,
    number
  >;
  private readonly decoder = new TextDecoder();
  private lines = 0;
  private nextSequence = 1;
  /** Of the line that has no end yet; nothing beyond the length that makes it unreadable anyhow. */
  private begun: Uint8Array = new Uint8Array();
  private begunLength = 0;
  private offset = 0;

  /** The entries of the lines that `bytes` completes. */
  push(bytes: Uint8Array): TranscriptEntry[] {
    const entries: TranscriptEntry[] = [];
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      this.extend(bytes.subarray(start, end));
      const entry = this.line();
      if (entry !== null) entries.push(entry);
      start = end + 1;
    }
    // A copy, which the slice of a Buffer is not: the caller may use its memory again.
    this.extend(new Uint8Array(bytes.subarray(start)));
    return entries;
  }

  /** What was found in the lines that were pushed so far. */
  soFar(): TranscriptSummary {
    const { problems, counts, nextSequence, offset: resumeAtBytes } = this;
    return { problems, counts, resumeAtBytes, nextSequence };
  }

  /** The whole finding, once all was pushed: a line without an end is torn then. */
  end(): TranscriptSummary {
    if (this.begunLength > 0) {
      this.lines++;
      this.report('torn_line', `the last line is torn after ${this.begunLength} bytes; skipped`);
    }
    return this.soFar();
  }

  private extend(bytes: Uint8Array): void {
    this.begunLength += bytes.length;
    if (this.begun.length === 0) this.begun = bytes;
    else if (this.begun.length < MAX_LINE_BYTES) this.begun = joined(this.begun, bytes);
  }

  /** Reads the line that has just got its end; null when that was no entry. */
  private line(): TranscriptEntry | null {
    const [bytes, length] = [this.begun, this.begunLength];
    [this.begun, this.begunLength] = [new Uint8Array(), 0];
    this.lines++;
    const entry = length < MAX_LINE_BYTES ? entryFrom(parse(this.decoder.decode(bytes))) : 'malformed';
    if (entry === 'malformed') {
      this.report('malformed_line', `line ${this.lines} is not an entry (${length} bytes); skipped`);
    } else if (entry === 'unknown_type') {
      this.report('unknown_type', `line ${this.lines} has a type that this version does not know; skipped`);
    } else {
      this.checkSequence(entry.sequence);
    }
    this.offset += length + 1;
    return typeof entry === 'string' ? null : entry;
  }

  private checkSequence(sequence: number): void {
    if (sequence > this.nextSequence) {
      const last = sequence - 1;
      const missing = last === this.nextSequence ? `entry ${last} is` : `entries ${this.nextSequence} to ${last} are`;
      this.report('sequence_gap', `${missing} missing before line ${this.lines}`);
    } else if (sequence < this.nextSequence) {
      this.report('sequence_repeated', `line ${this.lines} repeats entry ${sequence} or is out of order`);
    }
    this.nextSequence = Math.max(this.nextSequence, sequence + 1);
  }

  private report(kind: TranscriptProblemKind, message: string): void {
    this.counts[kind]++;
    const { lines: line, offset } = this;
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ kind, line, offset, message });
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
