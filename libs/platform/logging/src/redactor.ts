const MASK = '[redacted]';

/** Shorter values are ordinary words; masking them would make every text unreadable. */
const MIN_SECRET_LENGTH = 6;

/** Shapes that are secret wherever they appear. Each is linear: no nested quantifiers, log text is hostile. */
const TOKEN_SHAPES: readonly { readonly shape: RegExp; readonly replacement: string }[] = [
  { shape: /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[A-Za-z0-9+/=:,\s\\]*/g, replacement: MASK },
  // With a digit: "basic authentication" is prose.
  { shape: /\b(Bearer|Basic|token) +(?=[A-Za-z._~+/=-]*[0-9])[A-Za-z0-9._~+/=-]{12,}/gi, replacement: `$1 ${MASK}` },
  { shape: /\b(?:ghp|gho|ghu|ghs|ghr|glpat|github_pat|xox[abprs])[_-][A-Za-z0-9_-]{16,}/g, replacement: MASK },
  { shape: /\bsk-[A-Za-z0-9_-]{16,}/g, replacement: MASK },
  { shape: /\bAKIA[0-9A-Z]{16}\b/g, replacement: MASK },
  { shape: /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g, replacement: MASK },
  // user:password@ of a URL; the user name stays.
  { shape: /(:\/\/[^\s:/@]{0,256}:)[^\s@/]{1,256}@/g, replacement: `$1${MASK}@` },
  // The signature of a signed URL.
  { shape: /([?&]signature=)[A-Za-z0-9_-]{16,}/g, replacement: `$1${MASK}` },
];

/** Takes secrets out of text before it is written anywhere. */
export class Redactor {
  private readonly values = new Set<string>();
  private registered: RegExp | null = null;

  /** From now on `value`, also URL-encoded or in Base64, is masked. Values under 6 characters are ignored. */
  register(value: string): void {
    if (value.length < MIN_SECRET_LENGTH) return;
    this.values.add(value);
    this.values.add(encodeURIComponent(value));
    // Without the last, partial group: the value may be followed by other text in the same encoding.
    this.values.add(
      Buffer.from(value)
        .toString('base64')
        .slice(0, Math.floor(value.length / 3) * 4),
    );
    // Longest first, or a secret that begins with another one would leave its end behind.
    const alternatives = [...this.values]
      .filter((v) => v.length >= MIN_SECRET_LENGTH)
      .sort((a, b) => b.length - a.length);
    this.registered = new RegExp(alternatives.map(escapeForRegExp).join('|'), 'g');
  }

  /** `text` without registered values and without anything that has the shape of a token. */
  redact(text: string): string {
    const known = this.registered === null ? text : text.replace(this.registered, MASK);
    return TOKEN_SHAPES.reduce((rest, { shape, replacement }) => rest.replace(shape, replacement), known);
  }
}

/** The redactor of this process. */
export const redactor = new Redactor();

const escapeForRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
