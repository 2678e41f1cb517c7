import type { IncomingHttpHeaders } from 'node:http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { httpError } from './errors';

const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Refuses requests that a web page of another site makes with a person's browser: under a host name that is not ours
 * (DNS rebinding), or with a foreign origin. Programs that send no `Origin` pass. Also for the upgrade of a WebSocket,
 * which no middleware sees. Throws `HTTP_HOST_REFUSED` and `HTTP_ORIGIN_REFUSED`.
 */
export function checkSameSite(headers: IncomingHttpHeaders, allowedHosts: readonly string[]): void {
  const allowed = [...LOOPBACK, ...allowedHosts.map((host) => host.toLowerCase())];
  const host = hostName(`http://${headers.host ?? ''}`);
  if (host === null || !allowed.includes(host)) {
    throw httpError('HTTP_HOST_REFUSED', `requests for host ${shown(headers.host)} are not answered`);
  }
  const { origin } = headers;
  const originHost = origin === undefined ? host : hostName(origin);
  // Browsers set this header themselves; a page cannot forge it.
  const isCrossSite = headers['sec-fetch-site'] === 'cross-site';
  if (isCrossSite || originHost === null || !allowed.includes(originHost)) {
    throw httpError('HTTP_ORIGIN_REFUSED', `requests from pages of ${shown(origin)} are not answered`);
  }
}

/** `checkSameSite` for every HTTP request. */
export function sameSite(allowedHosts: readonly string[]): RequestHandler {
  return (request: Request, _response: Response, next: NextFunction): void => {
    checkSameSite(request.headers, allowedHosts);
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
