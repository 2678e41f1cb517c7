import { isDomainError } from '@inquest/kernel';
import type { Redactor } from './redactor';

/** One line of the log. */
export interface LogEntry {
  /** ISO 8601 in UTC. */
  readonly time: string;
  readonly level: string;
  readonly service: string;
  readonly context: string | null;
  readonly msg: string;
  readonly traceId: string | null;
  readonly err?: LoggedError;
  /** Objects that were logged beside the message. */
  readonly data?: readonly unknown[];
}

/** An error with its causes, outermost first. */
export interface LoggedError {
  readonly code: string | null;
  readonly message: string;
  readonly stack: string | null;
  readonly cause?: LoggedError;
}

/** Characters of one string in a log line; the middle of a longer one is left out. */
const MAX_STRING_LENGTH = 16_384;
const MAX_CAUSES = 5;
/** Characters of a whole line; objects that make it longer are left out. */
const MAX_LINE_LENGTH = 262_144;

export function loggedError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error) && !isDomainError(error)) {
    return { code: null, message: typeof error === 'string' ? error : safeJson(error, null), stack: null };
  }
  const cause: unknown = error.cause;
  return {
    code: 'code' in error && typeof error.code === 'string' ? error.code : null,
    message: error.message,
    stack: error.stack ?? null,
    ...(cause === undefined || depth >= MAX_CAUSES ? {} : { cause: loggedError(cause, depth + 1) }),
  };
}

/** The entry as one line of JSON, redacted and bounded; never throws, whatever was logged. */
export function encodeLogEntry(entry: LogEntry, redactor: Redactor): string {
  const line = safeJson(entry, redactor);
  if (line.length <= MAX_LINE_LENGTH) return line;
  const { data: _data, ...rest } = entry;
  return safeJson({ ...rest, data: [`${line.length} characters left out`] }, redactor);
}

function safeJson(value: unknown, redactor: Redactor | null): string {
  const ancestors: unknown[] = [];
  try {
    return (
      JSON.stringify(value, function (this: unknown, _key, inner: unknown) {
        if (typeof inner === 'string') return bounded(redactor === null ? inner : redactor.redact(inner));
        if (typeof inner === 'bigint') return inner.toString();
        if (inner instanceof Error) return loggedError(inner);
        if (typeof inner !== 'object' || inner === null) return inner;
        // `this` is the object that holds `inner`: everything pushed after it is a finished sibling.
        while (ancestors.length > 0 && ancestors.at(-1) !== this) ancestors.pop();
        if (ancestors.includes(inner)) return '[circular]';
        ancestors.push(inner);
        return inner;
      }) ?? 'null'
    );
  } catch {
    // A getter or toJSON of the logged object failed.
    return JSON.stringify({ msg: 'an entry could not be serialised' });
  }
}

function bounded(text: string): string {
  if (text.length <= MAX_STRING_LENGTH) return text;
  const kept = MAX_STRING_LENGTH / 2;
  return `${text.slice(0, kept)}[${text.length - 2 * kept} characters left out]${text.slice(-kept)}`;
}
