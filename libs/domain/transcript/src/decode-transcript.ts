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

export interface DecodedTranscript {
  readonly entries: readonly TranscriptEntry[];
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

/** How many problems are described one by one. */
export const MAX_PROBLEMS = 100;

const NEWLINE = 0x0a;

/** Reads a transcript, or any first part of one. Never throws: what cannot be read is skipped, counted and said. */
export function decodeTranscript(bytes: Uint8Array): DecodedTranscript {
  const reading = new Reading();
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    reading.line(bytes.subarray(start, end), start);
    start = end + 1;
  }
  if (start < bytes.length) reading.torn(bytes.length - start, start);
  return reading.result(start);
}

class Reading {
  private readonly entries: TranscriptEntry[] = [];
  private readonly problems: TranscriptProblem[] = [];
  private readonly counts = Object.fromEntries(TRANSCRIPT_PROBLEMS.map((kind) => [kind, 0])) as Record<
    TranscriptProblemKind,
    number
  >;
  private readonly decoder = new TextDecoder();
  private lines = 0;
  private nextSequence = 1;

  line(bytes: Uint8Array, offset: number): void {
    this.lines++;
    const entry = bytes.length < MAX_LINE_BYTES ? entryFrom(parse(this.decoder.decode(bytes))) : 'malformed';
    if (entry === 'malformed') {
      this.report('malformed_line', offset, `line ${this.lines} is not an entry (${bytes.length} bytes); skipped`);
    } else if (entry === 'unknown_type') {
      this.report('unknown_type', offset, `line ${this.lines} has a type that this version does not know; skipped`);
    } else {
      this.checkSequence(entry.sequence, offset);
      this.entries.push(entry);
    }
  }

  torn(length: number, offset: number): void {
    this.lines++;
    this.report('torn_line', offset, `the last line is torn after ${length} bytes; skipped`);
  }

  result(resumeAtBytes: number): DecodedTranscript {
    const { entries, problems, counts, nextSequence } = this;
    return { entries, problems, counts, resumeAtBytes, nextSequence };
  }

  private checkSequence(sequence: number, offset: number): void {
    if (sequence > this.nextSequence) {
      const last = sequence - 1;
      const missing = last === this.nextSequence ? `entry ${last} is` : `entries ${this.nextSequence} to ${last} are`;
      this.report('sequence_gap', offset, `${missing} missing before line ${this.lines}`);
    } else if (sequence < this.nextSequence) {
      this.report('sequence_repeated', offset, `line ${this.lines} repeats entry ${sequence} or is out of order`);
    }
    this.nextSequence = Math.max(this.nextSequence, sequence + 1);
  }

  private report(kind: TranscriptProblemKind, offset: number, message: string): void {
    this.counts[kind]++;
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ kind, line: this.lines, offset, message });
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
