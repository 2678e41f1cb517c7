/** Who has to change something before a retry can help. It decides a verdict's blame, the retry policy and the HTTP class. */
export type Fault = 'caller' | 'guest' | 'infra';

/** Facts about one occurrence: names, sizes, ids. Never secrets, never contents. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | null>>;

/** One row of a library's error table, and of `docs/errors.md`. */
export interface ErrorRow {
  readonly fault: Fault;
  /** HTTP status of the problem body when this error reaches the edge. */
  readonly status: number;
  /** When it is thrown, in one sentence. */
  readonly when: string;
  /** What the reader should do next, in one sentence. */
  readonly remediation: string;
}

export type ErrorTable = Readonly<Record<string, ErrorRow>>;

/** The error as it travels between processes: NATS replies, RFC 9457 problem bodies, transcripts. */
export interface ErrorBody {
  readonly code: string;
  readonly fault: Fault;
  readonly status: number;
  readonly message: string;
  readonly remediation: string;
  readonly details: ErrorDetails;
}

/** Every error that leaves a function of ours on purpose. `code` is stable and listed in `docs/errors.md`. */
export class DomainError<Code extends string = string> extends Error {
  override readonly name = 'DomainError';

  constructor(
    readonly code: Code,
    readonly fault: Fault,
    readonly status: number,
    message: string,
    readonly remediation: string,
    readonly details: ErrorDetails = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  toBody(): ErrorBody {
    const { code, fault, status, message, remediation, details } = this;
    return { code, fault, status, message, remediation, details };
  }
}

/** By shape, not `instanceof`: an error may come off the wire or from another Jest realm. */
export const isDomainError = (e: unknown): e is DomainError =>
  typeof e === 'object' && e !== null && (e as Error).name === 'DomainError' && 'code' in e && 'fault' in e;

/** True when `e` is a `DomainError` with this code. */
export const hasCode = (e: unknown, code: string): boolean => isDomainError(e) && e.code === code;

export type ErrorFactory<T extends ErrorTable> = ((
  code: keyof T & string,
  message: string,
  details?: ErrorDetails,
  cause?: unknown,
) => DomainError<keyof T & string>) & { readonly table: T };

/**
 * One table per library; its keys are the only codes that library can throw.
 * The message of each occurrence says what happened and on which object; the row says what to do next.
 */
export function defineErrors<const T extends ErrorTable>(table: T): ErrorFactory<T> {
  const make = (code: keyof T & string, message: string, details?: ErrorDetails, cause?: unknown) => {
    const row = table[code] as ErrorRow;
    return new DomainError(code, row.fault, row.status, message, row.remediation, details, { cause });
  };
  return Object.assign(make, { table });
}

const FAULTS: readonly string[] = ['caller', 'guest', 'infra'] satisfies Fault[];

/** Rebuilds an error that came off the wire; null when `value` is not an `ErrorBody`. Never throws. */
export function errorFromBody(value: unknown): DomainError | null {
  if (typeof value !== 'object' || value === null) return null;
  const body = value as Partial<Record<keyof ErrorBody, unknown>>;
  if (typeof body.code !== 'string' || typeof body.message !== 'string') return null;
  if (typeof body.fault !== 'string' || !FAULTS.includes(body.fault)) return null;
  const status = typeof body.status === 'number' ? body.status : 500;
  const remediation = typeof body.remediation === 'string' ? body.remediation : '';
  const details = typeof body.details === 'object' && body.details !== null ? (body.details as ErrorDetails) : {};
  return new DomainError(body.code, body.fault as Fault, status, body.message, remediation, details);
}

/** Codes that any part may throw. */
export const kernelError = defineErrors({
  ID_INVALID: {
    fault: 'caller',
    status: 400,
    when: 'An id is empty, longer than 64 characters, or has a character outside A-Z a-z 0-9 _ -.',
    remediation: 'Use the id exactly as a listing prints it; ids are rejected, never repaired.',
  },
  INPUT_INVALID: {
    fault: 'caller',
    status: 400,
    when: 'A request body, query or message does not have the shape that the API document gives.',
    remediation: 'Correct the named properties; /docs of the service shows the expected shape.',
  },
  INTERNAL: {
    fault: 'infra',
    status: 500,
    when: 'A failure that no part expected; the log of the named service has its stack under the same trace id.',
    remediation: 'Look up the trace id in the service log and report it; retrying is safe only for reads.',
  },
  DEADLINE_EXCEEDED: {
    fault: 'infra',
    status: 504,
    when: 'Something that was waited for did not happen before its deadline.',
    remediation: 'Check the part that the message names with `vmctl status`, then try again.',
  },
  OPERATION_ABORTED: {
    fault: 'caller',
    status: 499,
    when: 'The caller cancelled, or the process was told to stop, before the work was done.',
    remediation: 'Start it again if it is still wanted.',
  },
});

/** Any thrown value as a `DomainError`: known ones unchanged, everything else masked as `INTERNAL` with the cause kept. */
export function toDomainError(e: unknown): DomainError {
  if (isDomainError(e)) return e;
  return kernelError('INTERNAL', 'an unexpected failure', {}, e);
}

/** For `default:` branches over closed unions: a new member fails the type check, not the user. */
export function assertNever(value: never): never {
  throw kernelError('INTERNAL', `unexpected value ${JSON.stringify(value)}`);
}
