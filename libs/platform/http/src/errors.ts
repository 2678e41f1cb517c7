import { defineErrors } from '@inquest/kernel';

/** What the HTTP edge of a service refuses before a controller runs. */
export const httpError = defineErrors({
  HTTP_TOKEN_MISSING: {
    fault: 'caller',
    status: 401,
    when: 'A request has no bearer token.',
    remediation: 'Send `Authorization: Bearer <token>`; the embedded platform keeps its token in INQUEST_HOME/token.',
  },
  HTTP_TOKEN_REFUSED: {
    fault: 'caller',
    status: 401,
    when: 'The bearer token of a request is not one that this service accepts.',
    remediation: 'Use a token whose SHA-256 is in INQUEST_TOKEN_SHA256 of that service.',
  },
  HTTP_HOST_REFUSED: {
    fault: 'caller',
    status: 403,
    when: 'A request names a host that is neither loopback nor configured; a rebound DNS name looks like this.',
    remediation: 'Use http://127.0.0.1, or add the name to INQUEST_HTTP_ALLOWED_HOSTS.',
  },
  HTTP_ORIGIN_REFUSED: {
    fault: 'caller',
    status: 403,
    when: "A web page of another site sent the request with a person's browser.",
    remediation: "Open the service's own address, or add the host of the page to INQUEST_HTTP_ALLOWED_HOSTS.",
  },
  HTTP_SIGNATURE_REFUSED: {
    fault: 'caller',
    status: 403,
    when: 'A signed URL was changed, is for another method, or was signed with another key.',
    remediation: 'Ask for a new URL and use it unchanged, with the method that it was handed out for.',
  },
  HTTP_SIGNATURE_EXPIRED: {
    fault: 'caller',
    status: 403,
    when: 'A signed URL is used after its time.',
    remediation: 'Ask for a new URL and use it at once.',
  },
  HTTP_REQUEST_INVALID: {
    fault: 'caller',
    status: 400,
    when: 'A request cannot be read: its JSON, its URL or its encoding is broken.',
    remediation: 'Correct the request; /docs of the service shows what it takes.',
  },
  HTTP_ROUTE_UNKNOWN: {
    fault: 'caller',
    status: 404,
    when: 'The service has no such method and path.',
    remediation: 'Look up the path in /docs of the service.',
  },
  HTTP_BODY_OVERSIZED: {
    fault: 'caller',
    status: 413,
    when: 'A JSON body is larger than 1 MiB.',
    remediation: 'Send less at once; files go as streams, not inside JSON.',
  },
  HTTP_MEDIA_UNSUPPORTED: {
    fault: 'caller',
    status: 415,
    when: 'The encoding or character set of a body is not supported.',
    remediation: 'Send UTF-8 JSON with `Content-Type: application/json`.',
  },
});
