import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Response } from 'express';
import { isDomainError, toDomainError, type DomainError, type ErrorDetails, type Fault } from '@inquest/kernel';
import { currentTraceId } from '@inquest/logging';
import { httpError } from './errors';

/** The body of every answer that is not a success: RFC 9457, media type application/problem+json. */
export interface ProblemBody {
  /** `urn:inquest:error:<code>` */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly fault: Fault;
  readonly remediation: string;
  readonly details: ErrorDetails;
  readonly traceId: string | null;
}

/** What a client should wait at least, in s, when the error does not say. */
const RETRY_AFTER_S = 1;
const RETRYABLE_STATUSES: readonly number[] = [429, 503];

/** Answers every exception with a problem body: never a stack, never the message of an unexpected error. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger(ProblemFilter.name);

  catch(exception: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    const error = fromException(exception);
    if (error.status >= 500) this.logger.error(`answered ${error.status} ${error.code}: ${error.message}`, error);
    if (response.headersSent) {
      // A stream broke half way: only a cut connection tells the client that it did not get everything.
      response.destroy();
      return;
    }
    sendProblem(response, error);
  }
}

export function sendProblem(response: Response, error: DomainError): void {
  if (RETRYABLE_STATUSES.includes(error.status)) response.setHeader('Retry-After', String(retryAfterS(error)));
  if (error.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  // Strings are sent as they are; `json` would change the media type.
  response
    .status(error.status)
    .type('application/problem+json')
    .send(JSON.stringify(problemBody(error)));
}

export function problemBody(error: DomainError): ProblemBody {
  const { code, status, message, fault, remediation, details } = error;
  const words = code.toLowerCase().replaceAll('_', ' ');
  return {
    type: `urn:inquest:error:${code}`,
    title: words.charAt(0).toUpperCase() + words.slice(1),
    status,
    detail: message,
    code,
    fault,
    remediation,
    details,
    traceId: currentTraceId(),
  };
}

function retryAfterS({ details }: DomainError): number {
  const retryAfterMs = details['retryAfterMs'];
  return typeof retryAfterMs === 'number' ? Math.max(1, Math.ceil(retryAfterMs / 1000)) : RETRY_AFTER_S;
}

/** Nest's and Express' own exceptions as errors with a code. */
function fromException(exception: unknown): DomainError {
  if (isDomainError(exception)) return exception;
  const status = exception instanceof HttpException ? exception.getStatus() : bodyParserStatus(exception);
  const message = exception instanceof Error ? exception.message : '';
  switch (status) {
    case 400:
      return httpError('HTTP_REQUEST_INVALID', `the request cannot be read: ${message}`, {}, exception);
    case 404:
      return httpError('HTTP_ROUTE_UNKNOWN', message, {}, exception);
    case 413:
      return httpError('HTTP_BODY_OVERSIZED', 'the body of the request is larger than 1 MiB', {}, exception);
    case 415:
      return httpError('HTTP_MEDIA_UNSUPPORTED', `the body cannot be decoded: ${message}`, {}, exception);
    default:
      return toDomainError(exception);
  }
}

/** Errors of Express' body parser carry a status and say with `expose` that it is meant for the client. */
function bodyParserStatus(exception: unknown): number | null {
  const { expose, status } = (exception ?? {}) as { expose?: unknown; status?: unknown };
  return expose === true && typeof status === 'number' ? status : null;
}
