/** A line longer than this is no line of ours: it is skipped and counted. QMP events are a few hundred bytes. */
export const MAX_JSON_LINE_BYTES = 64 * 1024;

const NEWLINE = 0x0a;

/** One well-formed line: its object, and where it stands in the file (without the newline). */
export interface JsonLine {
  readonly value: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly offset: number;
  readonly length: number;
}

/** The objects of a JSON-lines file, and how many lines had to be passed over. */
export interface JsonLines {
  readonly lines: readonly JsonLine[];
  /** Lines that are not one JSON object, are too long, or are cut off. Blank lines do not count. */
  readonly skipped: number;
}

/** Reads a JSON-lines file. Never throws: whatever is not a JSON object on a line of its own is skipped and counted. */
export function readJsonLines(bytes: Uint8Array): JsonLines {
  const decoder = new TextDecoder();
  const lines: JsonLine[] = [];
  let skipped = 0;
  let offset = 0;
  while (offset < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, offset);
    const end = newline === -1 ? bytes.length : newline;
    const length = end - offset;
    if (length > MAX_JSON_LINE_BYTES) {
      skipped++;
    } else {
      const text = decoder.decode(bytes.subarray(offset, end));
      const value = parseObject(text);
      if (value !== null) lines.push({ value, text, offset, length });
      else if (text.trim() !== '') skipped++;
    }
    offset = end + 1;
  }
  return { lines, skipped };
}

/** The JSON object that `text` is, or null. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** True for a JSON object: neither null nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
