import type { AllowList } from './allow-list';
import type { ClientHello } from './client-hello';
import { egressError } from './errors';
import { isAddressLiteral, parseHostName } from './host-name';
import { whyNotPublic } from './public-address';

/** The only port that may be reached. */
export const HTTPS_PORT = 443;

const AUTHORITY = /^(.{1,300}):([0-9]{1,5})$/;

/** Where a guest wants to go. */
export interface EgressTarget {
  /** A host name in lower case. */
  readonly host: string;
  /** 0 to 99999: only `checkTarget` says whether it is one that can be reached. */
  readonly port: number;
}

/** Reads the target of a CONNECT request. Throws `EGRESS_REQUEST_INVALID`, or `EGRESS_ADDRESS_LITERAL`. */
export function parseTarget(authority: string): EgressTarget {
  const [, name = '', port] = AUTHORITY.exec(authority) ?? [];
  const shown = JSON.stringify(authority.slice(0, 120));
  if (port === undefined) throw egressError('EGRESS_REQUEST_INVALID', `${shown} is not host:port`);
  if (isAddressLiteral(name)) {
    throw egressError('EGRESS_ADDRESS_LITERAL', `${shown} is an IP address; only hosts can be reached, by name`);
  }
  const host = parseHostName(name);
  if (host === null) throw egressError('EGRESS_REQUEST_INVALID', `${shown} has no valid host name`);
  return { host, port: Number(port) };
}

/** The rule about a target, before anything is looked up. Throws `EGRESS_PORT_REFUSED` or `EGRESS_HOST_DENIED`. */
export function checkTarget({ host, port }: EgressTarget, allowList: AllowList): void {
  if (port !== HTTPS_PORT) {
    throw egressError('EGRESS_PORT_REFUSED', `only port ${HTTPS_PORT} can be reached, not port ${port} of ${host}`);
  }
  if (!allowList.allows(host)) throw egressError('EGRESS_HOST_DENIED', `${host} is ${notOn(allowList)}`);
}

/**
 * The rule about what a name resolved to. One address that is not public refuses all: a name that mixes them is up to
 * something. Throws `EGRESS_NAME_UNRESOLVED` when there is none, `EGRESS_ADDRESS_PRIVATE`.
 */
export function checkAddresses(host: string, addresses: readonly string[]): void {
  if (addresses.length === 0) throw egressError('EGRESS_NAME_UNRESOLVED', `${host} has no address`);
  for (const address of addresses) {
    const why = whyNotPublic(address);
    if (why === null) continue;
    const message = `${host} resolves to an address that is not public (${why})`;
    throw egressError('EGRESS_ADDRESS_PRIVATE', message, { address: address.slice(0, 64) });
  }
}

/** The rule about the TLS inside a tunnel to `host`. Throws `EGRESS_SNI_MISSING` or `EGRESS_SNI_DIFFERENT`. */
export function checkServerName({ serverName }: ClientHello, host: string): void {
  if (serverName === null) throw egressError('EGRESS_SNI_MISSING', `the TLS to ${host} names no server`);
  if (serverName === host) return;
  throw egressError('EGRESS_SNI_DIFFERENT', `the tunnel is to ${host}, but its TLS is to ${serverName}`);
}

const notOn = ({ isEmpty, entries }: AllowList): string =>
  isEmpty ? 'not allowed: this machine has no allow-list' : `not on this machine's allow-list (${entries.join(', ')})`;
