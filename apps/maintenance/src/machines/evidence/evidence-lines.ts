/** One line of an evidence file, and where it stands there. */
export interface EvidenceLine {
  readonly text: string;
  /** In bytes of the file. */
  readonly offset: number;
  /** Bytes, without the line end. */
  readonly length: number;
}

/** A place in a file, as a verdict cites it. */
export interface Place {
  readonly offset: number;
  readonly length: number;
}

const encoder = new TextEncoder();

/**
 * The lines of a text that stands at `startOffset` of its file. A text that begins inside a line (`startOffset` above 0)
 * loses that line. Offsets are exact as long as the file is UTF-8.
 */
export function linesOf(text: string, startOffset: number): EvidenceLine[] {
  const lines: EvidenceLine[] = [];
  let offset = startOffset;
  for (const line of text.split('\n')) {
    const length = encoder.encode(line).length;
    lines.push({ text: line.replace(/\r$/, ''), offset, length });
    offset += length + 1;
  }
  if (lines.at(-1)?.text === '') lines.pop();
  return startOffset > 0 ? lines.slice(1) : lines;
}

/** The object that a line holds; null when it holds none. */
export function objectOf({ text }: EvidenceLine): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null;
  } catch {
    return null;
  }
}

/** Whether a line is part of one of the places. */
export const isCited = (line: Place, places: readonly Place[]): boolean =>
  places.some(({ offset, length }) => offset < line.offset + line.length && line.offset < offset + Math.max(1, length));
