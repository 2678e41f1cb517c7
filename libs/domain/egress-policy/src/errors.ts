import { defineErrors } from '@inquest/kernel';

/**
 * Every way in which egress says no. `fault: guest` is a refusal: a rule that the guest met, answered with 403. The
 * other rows are failures of something that was allowed.
 */
export const egressError = defineErrors({
  EGRESS_ENTRY_INVALID: {
    fault: 'caller',
    status: 400,
    when: 'An entry of an allow-list is neither a host name nor `*.` and a name of at least two labels.',
    remediation:
      'Write `example.org` for one host and `*.example.org` for all hosts below it; no addresses, ports or URLs.',
  },
  EGRESS_METHOD_REFUSED: {
    fault: 'guest',
    status: 403,
    when: 'A request to the egress proxy has another method than CONNECT.',
    remediation: 'Use an https:// address; plain HTTP does not leave the machine.',
  },
  EGRESS_REQUEST_INVALID: {
    fault: 'guest',
    status: 403,
    when: 'What reached the egress proxy is no HTTP/1.x request for `host:port`, or ended before it was whole.',
    remediation: 'Send `CONNECT host:443 HTTP/1.1`, as every client does that is given HTTPS_PROXY.',
  },
  EGRESS_REQUEST_OVERSIZED: {
    fault: 'guest',
    status: 403,
    when: 'The head of a request to the egress proxy is larger than 8 KiB.',
    remediation: 'Send fewer or shorter headers with CONNECT; those for the server belong inside the tunnel.',
  },
  EGRESS_REQUEST_LATE: {
    fault: 'guest',
    status: 403,
    when: 'The head of a request to the egress proxy was not complete before its deadline.',
    remediation: 'Send the whole request at once.',
  },
  EGRESS_ADDRESS_LITERAL: {
    fault: 'guest',
    status: 403,
    when: 'A request to the egress proxy names an IP address, in whatever notation, instead of a host.',
    remediation: 'Use the name of the host; addresses are never reachable from the machine.',
  },
  EGRESS_PORT_REFUSED: {
    fault: 'guest',
    status: 403,
    when: 'A request to the egress proxy names another port than 443.',
    remediation: 'Use the HTTPS port of the host.',
  },
  EGRESS_HOST_DENIED: {
    fault: 'guest',
    status: 403,
    when: "A request to the egress proxy names a host that is not on the machine's allow-list. Nothing was looked up.",
    remediation: 'Start the machine with the host on its allow-list, or do without it.',
  },
  EGRESS_ADDRESS_PRIVATE: {
    fault: 'guest',
    status: 403,
    when: 'The name of an allowed host resolves to an address that is not public.',
    remediation: 'Only hosts of the public internet can be reached; check what the name resolves to.',
  },
  EGRESS_HELLO_INVALID: {
    fault: 'guest',
    status: 403,
    when: 'The first bytes in a tunnel are no whole TLS ClientHello of at most 16 KiB.',
    remediation: 'Only TLS may pass: use https:// through the tunnel.',
  },
  EGRESS_HELLO_LATE: {
    fault: 'guest',
    status: 403,
    when: 'No whole TLS ClientHello came through a tunnel before its deadline.',
    remediation: 'Begin the TLS handshake as soon as the tunnel is open.',
  },
  EGRESS_SNI_MISSING: {
    fault: 'guest',
    status: 403,
    when: 'The TLS ClientHello in a tunnel names no server.',
    remediation: 'Use a client that sends the server name (SNI) of the host it was told to reach.',
  },
  EGRESS_SNI_DIFFERENT: {
    fault: 'guest',
    status: 403,
    when: 'The server name in the TLS ClientHello is not the host of the CONNECT request.',
    remediation: 'Connect to the host that is really meant; it has to be on the allow-list itself.',
  },
  EGRESS_NAME_UNRESOLVED: {
    fault: 'infra',
    status: 502,
    when: 'The name of an allowed host could not be resolved by the node.',
    remediation: "Check the name, and the node's resolver.",
  },
  EGRESS_HOST_UNREACHABLE: {
    fault: 'infra',
    status: 502,
    when: 'An allowed host, or the local model of the node, did not accept a connection.',
    remediation: 'Try again; when it repeats, check from the node that the host can be reached.',
  },
  EGRESS_CONNECTIONS_EXHAUSTED: {
    fault: 'infra',
    status: 503,
    when: 'The machine has as many connections to the outside as it may have at once.',
    remediation: 'Close connections that are not needed, then try again.',
  },
});
