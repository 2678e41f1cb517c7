import type { NextFunction, Request, Response } from 'express';
import { runWithTrace, TRACE_HEADER, traceIdFrom } from '@inquest/logging';

/** Runs a request under the trace id that the client sent, or a fresh one, and says it in the answer. */
export function traceRequest(request: Request, response: Response, next: NextFunction): void {
  const traceId = traceIdFrom(request.headers[TRACE_HEADER.toLowerCase()]);
  response.setHeader(TRACE_HEADER, traceId);
  runWithTrace(traceId, next);
}
