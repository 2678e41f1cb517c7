import type { Response } from 'express';

/**
 * Headers of the page and of its files: it loads nothing from elsewhere, runs no inline script, may be framed by nobody
 * and tells nobody where it was. `nonce` marks the style elements that the page's own scripts make.
 */
export function setPageHeaders(response: Response, nonce: string): void {
  response.setHeader('Content-Security-Policy', contentSecurityPolicy(nonce));
  // For browsers that do not know frame-ancestors.
  response.setHeader('X-Frame-Options', 'DENY');
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
  response.setHeader('Permissions-Policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()');
}

const contentSecurityPolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
