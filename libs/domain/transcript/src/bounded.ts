import type { Cut, JsonValue } from './entry';
import type { Redact } from './redactor';

/** How much of one entry is written down. */
export interface Bounds {
  /** Of each text, in characters. */
  readonly textLength: number;
  /** List elements in all, and properties of free values. */
  readonly itemCount: number;
}

// Deeper structures come only from somebody who wants to exhaust the stack.
const MAX_DEPTH = 12;

// A text this long is shortened before it is redacted, so that redaction is bounded. What it keeps at each end is far
// longer than what `Bounds.textLength` keeps afterwards, so a secret broken at this seam never survives.
const MAX_REDACTED_LENGTH = 256 * 1024;

/** Copies JSON values, with secrets taken out and sizes bounded, and counts what it left out. */
export class BoundedCopy {
  private characters = 0;
  private items = 0;
  private itemsLeft: number;

  constructor(
    private readonly redact: Redact,
    private readonly bounds: Bounds,
  ) {
    this.itemsLeft = bounds.itemCount;
  }

  /** What was left out so far; null when nothing was. */
  get cut(): Cut | null {
    return this.characters + this.items > 0 ? { characters: this.characters, items: this.items } : null;
  }

  /** Copies a value of known shape: texts are redacted and bounded, its own keys and numbers are left alone. */
  copy(value: unknown): JsonValue {
    return this.walk(value, 0, false);
  }

  /** Copies a value that a model or guest shaped: keys and numbers may hold a secret too. What JSON cannot hold becomes null. */
  copyFree(value: unknown): JsonValue {
    return this.walk(value, 0, true);
  }

  private walk(value: unknown, depth: number, free: boolean): JsonValue {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number' || typeof value === 'bigint') return this.number(value, free);
    if (typeof value === 'boolean') return value;
    if (typeof value !== 'object' || value === null) return null;
    if (depth >= MAX_DEPTH) {
      this.items++;
      return null;
    }
    if (Array.isArray(value)) return this.bounded(value).map((item) => this.walk(item, depth + 1, free));
    const properties = Object.entries(value).filter(([, property]) => property !== undefined);
    // A value of known shape has few properties and needs them all.
    const taken = free ? this.bounded(properties) : properties;
    return Object.fromEntries(
      taken.map(([key, property]) => [free ? this.text(key) : key, this.walk(property, depth + 1, free)]),
    );
  }

  private bounded<T>(items: readonly T[]): readonly T[] {
    const taken = items.slice(0, this.itemsLeft);
    this.itemsLeft -= taken.length;
    this.items += items.length - taken.length;
    return taken;
  }

  // A secret may be all digits, and then a model may well pass it as a number.
  private number(value: number | bigint, free: boolean): JsonValue {
    const written = String(value);
    const redacted = free ? this.redact(written) : written;
    if (redacted !== written || typeof value === 'bigint') return redacted;
    return Number.isFinite(value) ? value : null;
  }

  private text(value: string): string {
    const { text, cut } = shorten(this.redact(shorten(value, MAX_REDACTED_LENGTH).text), this.bounds.textLength);
    this.characters += cut + Math.max(0, value.length - MAX_REDACTED_LENGTH);
    return text;
  }
}

/** The beginning (three quarters) and the end of a long text, with a mark between them that says how much is missing. */
export function shorten(text: string, maxLength: number): { readonly text: string; readonly cut: number } {
  if (text.length <= maxLength) return { text, cut: 0 };
  const headEnd = atCodePoint(text, Math.floor(maxLength * 0.75));
  const tailStart = atCodePoint(text, text.length - (maxLength - headEnd));
  const cut = tailStart - headEnd;
  return { text: `${text.slice(0, headEnd)}…[${cut} characters cut]…${text.slice(tailStart)}`, cut };
}

/** `index`, or one more where it would split a surrogate pair. */
function atCodePoint(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return index > 0 && code >= 0xdc00 && code <= 0xdfff ? index + 1 : index;
}
