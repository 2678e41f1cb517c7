import type { EvidenceFile } from './bundle-files';

/** Longest quote in a citation, in characters. */
export const MAX_QUOTE_CHARS = 200;

/** A place in the evidence bundle that a verdict rests on. `offset` and `length` are bytes of the named file. */
export interface Citation {
  readonly file: EvidenceFile;
  readonly offset: number;
  readonly length: number;
  /** What stands there: printable characters only, at most `MAX_QUOTE_CHARS`. */
  readonly quote: string;
}

/** Text of unknown origin made fit for a log line or a terminal: printable ASCII, bounded, cut with an ellipsis. */
export function printable(text: string, maxChars: number = MAX_QUOTE_CHARS): string {
  // Only what can be shown is looked at, however long the text is.
  const cut = text.length > maxChars;
  const head = cut ? text.slice(0, maxChars - 3) : text;
  const clean = head.replace(/[\t\r\n]/g, ' ').replace(/[^\x20-\x7e]/g, '?');
  return cut ? `${clean}...` : clean;
}
