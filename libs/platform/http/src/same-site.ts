import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { httpError } from './errors';

const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Refuses requests that a web page of another site makes with a person's browser: under a host name that is not ours
 * (DNS rebinding, `HTTP_HOST_REFUSED`), or with a foreign origin (`HTTP_ORIGIN_REFUSED`). Programs that send no
 * `Origin` pass.
 */
export function sameSite(allowedHosts: readonly string[]): RequestHandler {
  const allowed = new Set([...LOOPBACK, ...allowedHosts.map((host) => host.toLowerCase())]);
  return (request: Request, _response: Response, next: NextFunction): void => {
    const host = hostName(`http://${request.headers.host ?? ''}`);
    if (host === null || !allowed.has(host)) {
      return next(httpError('HTTP_HOST_REFUSED', `requests for host ${shown(request.headers.host)} are not answered`));
    }
    const { origin } = request.headers;
    const originHost = origin === undefined ? host : hostName(origin);
    // Browsers set this header themselves; a page cannot forge it.
    const isCrossSite = request.headers['sec-fetch-site'] === 'cross-site';
    if (isCrossSite || originHost === null || !allowed.has(originHost)) {
      return next(httpError('HTTP_ORIGIN_REFUSED', `requests from pages of ${shown(origin)} are not answered`));
    }
    next();
  };
}

/** The lower-case host name of a URL, IPv6 in brackets; null when there is none (as for the origin `null`). */
function hostName(url: string): string | null {
  try {
    return new URL(url).hostname || null;
  } catch {
    return null;
  }
}

const shown = (value: string | undefined): string => JSON.stringify((value ?? '').slice(0, 80));
