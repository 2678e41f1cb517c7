import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { systemClock } from '@inquest/kernel';
import type { Metrics } from './metrics';

const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Measures requests by route pattern, never by path: clients must not be able to make series. */
export function measureHttp(metrics: Metrics): RequestHandler {
  return (request: Request, response: Response, next: NextFunction): void => {
    const startedMs = systemClock.monotonicMs();
    response.once('close', () => {
      const route = (request.route as { path?: unknown } | undefined)?.path;
      metrics.httpDuration.observe(
        {
          method: METHODS.includes(request.method) ? request.method : 'other',
          route: typeof route === 'string' ? route : 'none',
          status: String(response.statusCode),
        },
        (systemClock.monotonicMs() - startedMs) / 1000,
      );
    });
    next();
  };
}
