/** A failure as the page shows it: what happened, and what to do next. */
export class Problem extends Error {
  override readonly name = 'Problem';

  constructor(
    /** Code of the platform's error table, or `OFFLINE` when no answer came. */
    readonly code: string,
    /** HTTP status; 0 when no answer came. */
    readonly status: number,
    message: string,
    readonly remediation: string,
  ) {
    super(message);
  }
}

/** The problem of an answer that is no success, from its RFC 9457 body as far as it has one. */
export function problemOf(status: number, body: unknown): Problem {
  const { code, detail, remediation } = (typeof body === 'object' && body !== null ? body : {}) as Record<
    string,
    unknown
  >;
  return new Problem(
    typeof code === 'string' ? code : 'ANSWER_UNEXPECTED',
    status,
    typeof detail === 'string' ? detail : `The gateway answered with status ${status}.`,
    typeof remediation === 'string' ? remediation : 'Look into the log of the gateway: `vmctl status` names the file.',
  );
}

/** The problem of a request that got no answer. */
export const offline = (cause: unknown): Problem =>
  new Problem(
    'OFFLINE',
    0,
    `The gateway does not answer (${cause instanceof Error ? cause.message : String(cause)}).`,
    'Check with `vmctl status` that it runs. This page tries again by itself.',
  );

/** Any failure as a problem. */
export function toProblem(e: unknown): Problem {
  if (e instanceof Problem) return e;
  const message = e instanceof Error ? e.message : String(e);
  return new Problem('UNEXPECTED', 0, message, 'Load the page again; if it stays, report what you did.');
}
