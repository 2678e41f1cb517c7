import { STATUS_CODES } from 'node:http';
import type { DomainError } from '@inquest/kernel';

/** RFC 9110, 9.3.6: a 2xx answer to CONNECT has no body; the tunnel begins behind it. */
export const TUNNEL_OPEN = 'HTTP/1.1 200 Connection established\r\n\r\n';

/** Error types of RFC 9209 (2.3) for what is not a plain "the proxy is configured to say no". */
const PROXY_STATUS: Readonly<Record<string, string>> = {
  EGRESS_ADDRESS_PRIVATE: 'destination_ip_prohibited',
  EGRESS_NAME_UNRESOLVED: 'dns_error',
  EGRESS_HOST_UNREACHABLE: 'destination_unavailable',
  EGRESS_CONNECTIONS_EXHAUSTED: 'connection_limit_reached',
};

/**
 * The proxy's own answer to a request that it does not do: a problem body (RFC 9457) whose code is the rule, and the
 * same rule in Proxy-Status (RFC 9209), so that nobody takes it for an answer of the host.
 */
export function problemAnswer({ code, status, message, fault, remediation }: DomainError): string {
  const title = STATUS_CODES[status] ?? 'Refused';
  const type = `urn:inquest:error:${code}`;
  const body = `${JSON.stringify({ type, title, status, detail: message, code, fault, remediation })}\n`;
  return [
    `HTTP/1.1 ${status} ${title}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Proxy-Status: inquest; error=${PROXY_STATUS[code] ?? 'http_request_denied'}; details="${code}"`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

/** Content type, version and length of an alert record, then level and description (RFC 8446, 5.1 and 6). */
const FATAL_ALERT = [21, 3, 3, 0, 2, 2] as const;
/** RFC 8446, 6.2 */
const UNRECOGNIZED_NAME = 112;
const DECODE_ERROR = 50;

/** What a TLS client understands where HTTP is over: a fatal alert that comes as near to the rule as TLS allows. */
export const alertFor = ({ code }: DomainError): Buffer =>
  Buffer.from([...FATAL_ALERT, code.startsWith('EGRESS_SNI_') ? UNRECOGNIZED_NAME : DECODE_ERROR]);
