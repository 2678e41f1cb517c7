import { open } from 'node:fs/promises';
import { gitForgeError } from '@inquest/git-forge';

// Gitea's tokens have 40 hex characters; its OAuth tokens are JWTs.
const TOKEN = /^[A-Za-z0-9_.~+/=-]{8,4096}$/;
const MAX_FILE_BYTES = 4_098;
const OTHERS = 0o077;
/** Gitea looks at the password alone when it is a token, so any name does. */
const GIT_USER = 'inquest';

/**
 * The token of a forge in a file of mode 0600. It is read for each use, so that a new one counts at once; it is handed on
 * in a request header or by git's credential protocol, never as an argument, in a URL or in an environment.
 */
export class TokenFile {
  constructor(readonly path: string) {}

  /** Throws `FORGE_TOKEN_UNREADABLE`; what the file holds is not in the error. */
  async read(): Promise<string> {
    const text = await this.text();
    const token = text.replace(/\r?\n$/, '');
    if (!TOKEN.test(token)) throw this.unreadable('does not hold one token');
    return token;
  }

  /** Value of `credential.helper`, gitcredentials(7): a shell command that prints the token when git asks for it. */
  get credentialHelper(): string {
    const file = `'${this.path.replaceAll("'", `'\\''`)}'`;
    return `!f() { test "$1" = get && echo username=${GIT_USER} && printf password= && cat ${file} && echo; }; f`;
  }

  private async text(): Promise<string> {
    try {
      const file = await open(this.path, 'r');
      try {
        const status = await file.stat();
        if (!status.isFile()) throw this.unreadable('is no regular file');
        if ((status.mode & OTHERS) !== 0) throw this.unreadable('may be read by others; its mode must be 0600');
        const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_FILE_BYTES), 0, MAX_FILE_BYTES, 0);
        return buffer.toString('utf8', 0, bytesRead);
      } finally {
        await file.close();
      }
    } catch (e) {
      const code = typeof e === 'object' && e !== null && 'code' in e ? String(e.code) : 'unknown reason';
      throw code === 'FORGE_TOKEN_UNREADABLE' ? e : this.unreadable(`cannot be opened (${code})`, e);
    }
  }

  private unreadable(why: string, cause?: unknown) {
    return gitForgeError('FORGE_TOKEN_UNREADABLE', `the token file ${this.path} ${why}`, { path: this.path }, cause);
  }
}

/**
 * Text of a forge or of git for messages: without the token in any form in which it was sent (a server may say back what
 * it was told), printable, on one line, of bounded length.
 */
export function shownText(text: string, token: string, maxLength = 600): string {
  const sent = [token, Buffer.from(`${GIT_USER}:${token}`).toString('base64'), encodeURIComponent(token)];
  const redacted = sent.reduce((shown, secret) => shown.replaceAll(secret, '[token]'), text);
  const printable = redacted.replace(/[\p{C}\u2028\u2029\s]+/gu, ' ').trim();
  return printable.length > maxLength ? `${printable.slice(0, maxLength)}…` : printable;
}
