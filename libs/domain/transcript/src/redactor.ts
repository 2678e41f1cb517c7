import { redactTokenShapes } from './token-shapes';

/** Takes secrets out of a text. Must be pure and must not throw. */
export type Redact = (text: string) => string;

/** A value that must never be written down, with the name that stands in its place. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}

/** Shorter values occur by chance in ordinary text; replacing them would shred it and give away where they are. */
export const MIN_SECRET_LENGTH = 6;

/** A redactor, and what it cannot do. */
export interface Redactor {
  readonly redact: Redact;
  /** Names of secrets shorter than `MIN_SECRET_LENGTH`, which are not looked for: say so to their owner. */
  readonly tooShort: readonly string[];
}

/**
 * Replaces each secret by `[redacted NAME]`, as it is and in the encodings in which programs usually print it (JSON
 * string, percent-encoding, hex, base64 also as a part of something longer), and then everything that has the shape of a known credential.
 */
export function createRedactor(secrets: readonly Secret[]): Redactor {
  const tooShort = secrets.filter(({ value }) => value.length < MIN_SECRET_LENGTH).map(({ name }) => name);
  const needles = secrets
    .filter(({ value }) => value.length >= MIN_SECRET_LENGTH)
    .flatMap(({ name, value }) => writtenForms(value).map((form) => ({ form, mark: `[redacted ${name}]` })))
    .sort((a, b) => b.form.length - a.form.length); // a secret that contains another goes first
  const redact = (text: string): string =>
    redactTokenShapes(needles.reduce((out, { form, mark }) => out.replaceAll(form, () => mark), text));
  return { redact, tooShort };
}

function writtenForms(value: string): string[] {
  const bytes = new TextEncoder().encode(value);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  const percent = Array.from(bytes, (byte) => percentEncoded(byte)).join('');
  const jsonText = JSON.stringify(value).slice(1, -1);
  const base64 = [0, 1, 2].map((shift) => base64Core(bytes, shift));
  const base64Url = base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'));
  return [...new Set([value, jsonText, percent, hex, hex.toUpperCase(), ...base64, ...base64Url])];
}

/**
 * The characters of base64 that `bytes` alone decide when they start `shift` bytes after a group of three: what shows
 * up when the secret is part of something longer that is encoded as a whole.
 */
function base64Core(bytes: Uint8Array, shift: number): string {
  const whole = btoa(String.fromCharCode(...new Uint8Array(shift), ...bytes)).replace(/=+$/, '');
  const first = Math.ceil((shift * 8) / 6);
  const last = Math.floor(((shift + bytes.length) * 8) / 6);
  return whole.slice(first, last);
}

// Byte-wise, because encodeURIComponent throws on a lone surrogate.
function percentEncoded(byte: number): string {
  const char = String.fromCharCode(byte);
  return /[A-Za-z0-9_.!~*'()-]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}
