import { createHmac, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { systemClock } from '@inquest/kernel';
import { httpError } from './errors';
import { HTTP_OPTIONS, type HttpOptions } from './http-options';

/** What of a request a signature covers. */
export interface SignedRequest {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly originalUrl: string;
}

/** The signed part, the expiry in ms since the Unix epoch, and the signature, at the very end of the URL. */
const SIGNED_URL = /^(.+?)[?&]expires=(\d{1,16})&signature=([A-Za-z0-9_-]{43})$/s;

/**
 * Signs URLs for byte streams, so that one service can let another fetch or send one thing for a short time without a
 * bearer token. The signature (HMAC-SHA-256) covers method, path, query and expiry.
 */
@Injectable()
export class UrlSigner {
  constructor(@Inject(HTTP_OPTIONS) private readonly options: Pick<HttpOptions, 'urlSigningKey'>) {}

  /** The query string, without `?`, to append to `path`; a `path` with a query of its own gets it after `&`. */
  sign(method: string, path: string, expiresInMs: number): string {
    const expiresAtMs = systemClock.nowMs() + expiresInMs;
    return `expires=${expiresAtMs}&signature=${this.signature(method, path, expiresAtMs).toString('base64url')}`;
  }

  /** `path` with its signature appended. */
  signPath(method: string, path: string, expiresInMs: number): string {
    return `${path}${path.includes('?') ? '&' : '?'}${this.sign(method, path, expiresInMs)}`;
  }

  /** Throws `HTTP_SIGNATURE_REFUSED` and `HTTP_SIGNATURE_EXPIRED`. */
  verify({ method, originalUrl }: SignedRequest): void {
    const [, path, expires, signature] = SIGNED_URL.exec(originalUrl) ?? [];
    if (path === undefined || expires === undefined || signature === undefined) {
      throw httpError('HTTP_SIGNATURE_REFUSED', 'the URL has no signature at its end');
    }
    const expiresAtMs = Number(expires);
    if (!timingSafeEqual(this.signature(method, path, expiresAtMs), Buffer.from(signature, 'base64url'))) {
      throw httpError('HTTP_SIGNATURE_REFUSED', 'the signature does not fit the method and the URL');
    }
    const lateMs = systemClock.nowMs() - expiresAtMs;
    if (lateMs >= 0) throw httpError('HTTP_SIGNATURE_EXPIRED', `the URL expired ${lateMs} ms ago`, { lateMs });
  }

  private signature(method: string, path: string, expiresAtMs: number): Buffer {
    return createHmac('sha256', this.options.urlSigningKey).update(`${method}\n${path}\n${expiresAtMs}`).digest();
  }
}
