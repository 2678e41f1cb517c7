import { type DomainError } from '@inquest/kernel';
import { frameError, GUEST_ERROR_CODES } from './errors';
import { type JsonObject } from './frame';
import { MAX_GUEST_MESSAGE_LENGTH } from './limits';

/** The JSON of every failure that the guest agent reports. */
export interface GuestErrorAnswer {
  readonly type: 'error';
  readonly code: string;
  readonly message: string;
}

/**
 * The typed error of an error answer. A code that is not in the table becomes `GUEST_ERROR_UNKNOWN`: a guest may not
 * choose arbitrary codes. Its text is cut and made printable, for it will be shown on terminals and to models.
 */
export function guestReportedError(body: JsonObject): DomainError {
  const code = typeof body['code'] === 'string' ? body['code'] : '';
  const message = typeof body['message'] === 'string' ? printable(body['message'], MAX_GUEST_MESSAGE_LENGTH) : '';
  if (isGuestErrorCode(code)) return frameError(code, `the guest says: ${message}`);
  const shown = printable(code, MAX_CODE_LENGTH);
  return frameError('GUEST_ERROR_UNKNOWN', `the guest failed with the unknown code "${shown}": ${message}`, {
    guestCode: shown,
  });
}

/** At most `maxLength` characters of a guest's text, control characters replaced by spaces. */
export const printable = (text: string, maxLength: number): string => text.slice(0, maxLength).replace(/\p{Cc}/gu, ' ');

const MAX_CODE_LENGTH = 64;

const isGuestErrorCode = (code: string): code is keyof typeof frameError.table => GUEST_ERROR_CODES.includes(code);
