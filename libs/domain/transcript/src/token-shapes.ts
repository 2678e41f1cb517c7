/** A family of credentials that can be told from ordinary text by its shape alone. */
interface TokenShape {
  readonly name: string;
  /** Global; its failing starts are bounded or fenced by a lookbehind, so that scanning is linear. */
  readonly pattern: RegExp;
}

// Prefixes and lengths as the issuers document them.
const TOKEN_SHAPES: readonly TokenShape[] = [
  { name: 'GitHub token', pattern: /gh[pousr]_[A-Za-z0-9]{36,}/g },
  { name: 'GitHub token', pattern: /github_pat_[A-Za-z0-9_]{22,}/g },
  { name: 'GitLab token', pattern: /glpat-[A-Za-z0-9_-]{20,}/g },
  { name: 'model API key', pattern: /sk-[A-Za-z0-9_-]{20,}/g },
  { name: 'AWS access key', pattern: /(?:AKIA|ASIA)[0-9A-Z]{16}/g },
  { name: 'Google API key', pattern: /AIza[A-Za-z0-9_-]{35}/g },
  { name: 'Slack token', pattern: /xox[abeoprs]-[A-Za-z0-9-]{10,}/g },
  { name: 'npm token', pattern: /npm_[A-Za-z0-9]{36,}/g },
];

const JWT_LIKE = /(?<![\w-])[\w-]{10,}\.[\w-]{10,}\.[\w-]*/g;
const JWT_HEADER = 'eyJ'; // base64url of `{"`
const URL_PASSWORD = /(:\/\/[^\s/:@]{0,128}:)[^\s/@]{1,256}@/g;
const AUTHORIZATION = /\b(Bearer|Basic)(\s{1,4})[A-Za-z0-9._~+/=-]{12,}/gi;
const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----/g;
const KEY_END = '-----END ';

const mark = (name: string): string => `[redacted ${name}]`;

/** `text` with everything that has the shape of a known credential replaced by a mark that names the kind. */
export function redactTokenShapes(text: string): string {
  let out = redactPrivateKeys(text);
  for (const { name, pattern } of TOKEN_SHAPES) out = out.replace(pattern, mark(name));
  return out
    .replace(JWT_LIKE, redactJwt)
    .replace(URL_PASSWORD, `$1${mark('password')}@`)
    .replace(AUTHORIZATION, `$1$2${mark('credential')}`);
}

function redactJwt(candidate: string): string {
  const start = candidate.indexOf(JWT_HEADER);
  return start === -1 || start > candidate.indexOf('.') ? candidate : candidate.slice(0, start) + mark('JWT');
}

function redactPrivateKeys(text: string): string {
  let out = '';
  let at = 0;
  for (const begin of text.matchAll(KEY_BEGIN)) {
    if (begin.index < at) continue;
    const end = text.indexOf(KEY_END, begin.index);
    out += text.slice(at, begin.index) + mark('private key');
    if (end === -1) return out; // cut in the middle of the key: the rest may be all key
    const close = text.indexOf('-----', end + KEY_END.length);
    at = close === -1 ? text.length : close + '-----'.length;
  }
  return out + text.slice(at);
}
