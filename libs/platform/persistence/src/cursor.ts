import { ID_PATTERN } from '@inquest/kernel';
import { persistenceError } from './errors';

/** One page of a listing. */
export interface Page<T> {
  readonly items: T[];
  /** Opaque; null: this was the last page. */
  readonly nextToken: string | null;
}

/** Where a page ended: the time and the id of its last item, in a listing ordered by both. */
export interface Cursor {
  /** Ms since the Unix epoch. */
  readonly at: number;
  readonly id: string;
}

const MAX_TOKEN_LENGTH = 256;

export function encodeCursor({ at, id }: Cursor): string {
  return Buffer.from(`${at}:${id}`).toString('base64url');
}

/** The cursor in a token; null for no token. Throws `CURSOR_INVALID` for anything that `encodeCursor` did not make. */
export function decodeCursor(token: string | null | undefined): Cursor | null {
  if (token === null || token === undefined) return null;
  const text = token.length > MAX_TOKEN_LENGTH ? '' : Buffer.from(token, 'base64url').toString('utf8');
  const cut = text.indexOf(':');
  const [time, id] = [text.slice(0, cut), text.slice(cut + 1)];
  const at = Number(time);
  const isExact = /^\d{1,16}$/.test(time) && Number.isSafeInteger(at) && ID_PATTERN.test(id);
  if (!isExact || encodeCursor({ at, id }) !== token) {
    throw persistenceError('CURSOR_INVALID', `page token ${JSON.stringify(token.slice(0, 40))} is not one of ours`, {});
  }
  return { at, id };
}
