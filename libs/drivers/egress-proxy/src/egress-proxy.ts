import type { Duplex } from 'node:stream';
import { CleanupStack } from '@inquest/kernel';
import type { GuestStreamHandler } from '@inquest/guest-link';
import {
  checkAddresses,
  checkServerName,
  checkTarget,
  ClientHelloReader,
  ConnectHeadReader,
  egressError,
  HANDSHAKE_RECORD,
  parseTarget,
  type AllowList,
  type ConnectHead,
  type EgressTarget,
} from '@inquest/egress-policy';
import type { Answer, GuestConnection } from './guest-connection';
import type { HostNetwork } from './host-network';
import { alertFor, problemAnswer, TUNNEL_OPEN } from './proxy-answers';
import { readMessage } from './read-message';
import { splice } from './splice';
import { WayOut, type WayOutOptions } from './way-out';
import { within } from './within';

/** Port of the guest link on which the host listens for the egress proxy (docs/guest-protocol.md). */
export const EGRESS_PORT = 3128;

/** Addresses of one host that are tried, in turn. */
const MAX_DIALS = 4;

/** What one machine's proxy is made of. */
export interface EgressProxyOptions extends WayOutOptions {
  readonly allowList: AllowList;
  readonly network: HostNetwork;
}

/**
 * The host's end of a machine's way to the internet: an HTTP proxy that takes CONNECT and nothing else. A tunnel comes
 * about iff the host is on the allow-list, the port is 443, the name resolves here to public addresses only, and the TLS
 * inside names that same host. Every rule but the last is checked before the guest is told that its tunnel is open, and
 * no byte of a guest leaves before all are. A name that is not allowed is not looked up; the address that was checked is
 * the one that is connected to.
 *
 * What TLS encrypts is not seen: a server that an allowed name leads to may serve other names too, to a client that asks
 * for them inside.
 */
export class EgressProxy {
  private readonly wayOut: WayOut;

  constructor(private readonly options: EgressProxyOptions) {
    this.wayOut = new WayOut({ way: 'proxy', answer: problemAnswer, serve: (c) => this.serve(c) }, options);
  }

  /** For the listener of the guest link on `EGRESS_PORT`. */
  get accept(): GuestStreamHandler {
    return this.wayOut.accept;
  }

  /** Connections that are open now. */
  get openCount(): number {
    return this.wayOut.openCount;
  }

  /** Ends every tunnel and refuses further ones. Idempotent, never rejects. When it resolves, all is recorded. */
  close(): Promise<void> {
    return this.wayOut.close();
  }

  private async serve(connection: GuestConnection): Promise<void> {
    const head = await this.readHead(connection);
    // Nothing was asked: the guest agent finds out in this way whether the host listens.
    if (head === null) return connection.hangUp();
    const target = parseTarget(head.authority);
    connection.journal.wants(target);
    checkTarget(target, this.options.allowList);
    const addresses = await this.resolve(target, connection.signal);
    const cleanup = new CleanupStack();
    try {
      const remote = await this.dial(target, addresses, connection);
      cleanup.defer('the connection to the host', () => void remote.destroy());
      await this.tunnel(connection, remote, target, head.rest);
    } finally {
      await cleanup.run();
    }
  }

  /** Null when the guest ended the connection without a word. */
  private async readHead({ stream, signal }: GuestConnection): Promise<ConnectHead | null> {
    const { requestMs } = this.options.limits;
    const reader = new ConnectHeadReader();
    const late = egressError('EGRESS_REQUEST_LATE', `no whole request came within ${requestMs} ms`);
    const head = await within({ ms: requestMs, signal, late }, (s) =>
      readMessage(stream, (chunk) => reader.push(chunk), s),
    );
    if (head !== null || reader.isEmpty) return head;
    throw egressError('EGRESS_REQUEST_INVALID', 'the connection ended before the request was whole');
  }

  private async resolve({ host }: EgressTarget, signal: AbortSignal): Promise<readonly string[]> {
    const { network, limits } = this.options;
    const late = egressError('EGRESS_NAME_UNRESOLVED', `${host} was not resolved within ${limits.resolveMs} ms`);
    const addresses = await within({ ms: limits.resolveMs, signal, late }, (s) => network.resolve(host, s));
    checkAddresses(host, addresses);
    return addresses;
  }

  private async dial(
    { host, port }: EgressTarget,
    addresses: readonly string[],
    { journal, signal }: GuestConnection,
  ): Promise<Duplex> {
    const { network, limits } = this.options;
    const late = egressError('EGRESS_HOST_UNREACHABLE', `${host} did not accept within ${limits.dialMs} ms`);
    let failure: unknown = null;
    for (const address of addresses.slice(0, MAX_DIALS)) {
      try {
        const remote = await within({ ms: limits.dialMs, signal, late }, (s) => network.dial(address, port, s));
        journal.reaches(address);
        return remote;
      } catch (e) {
        failure = e;
        if (signal.aborted) break;
      }
    }
    throw signal.aborted ? failure : egressError('EGRESS_HOST_UNREACHABLE', `${host} cannot be reached`, {}, failure);
  }

  private async tunnel(
    connection: GuestConnection,
    remote: Duplex,
    { host }: EgressTarget,
    early: Uint8Array,
  ): Promise<void> {
    const { stream, closingSignal, journal } = connection;
    const { limits } = this.options;
    const sent: Uint8Array[] = early.length > 0 ? [early] : [];
    connection.answerWith(tunnelAnswer(sent));
    stream.write(TUNNEL_OPEN);
    const isAnySent = await this.checkHello(connection, host, sent);
    if (!isAnySent) return journal.ended({ how: 'the guest sent nothing', bytesUp: 0, bytesDown: 0 });
    await journal.opened();
    const hello = Buffer.concat(sent);
    remote.write(hello);
    const end = await splice(stream, remote, { ...limits, signal: closingSignal });
    await journal.ended({ ...end, bytesUp: end.bytesUp + hello.length });
  }

  /** Adds what comes to `sent` until that holds a whole ClientHello for `host`. False when the guest ended the tunnel unused. */
  private async checkHello({ stream, signal }: GuestConnection, host: string, sent: Uint8Array[]): Promise<boolean> {
    const { helloMs } = this.options.limits;
    const reader = new ClientHelloReader();
    const first = sent[0] === undefined ? null : reader.push(sent[0]);
    const late = egressError('EGRESS_HELLO_LATE', `no TLS ClientHello for ${host} came within ${helloMs} ms`);
    const feed = (chunk: Buffer): ReturnType<ClientHelloReader['push']> => {
      sent.push(chunk);
      return reader.push(chunk);
    };
    const hello = first ?? (await within({ ms: helloMs, signal, late }, (s) => readMessage(stream, feed, s)));
    if (hello === null && sent.length === 0) return false;
    if (hello === null) {
      throw egressError('EGRESS_HELLO_INVALID', `the tunnel to ${host} ended before a whole TLS ClientHello came`);
    }
    checkServerName(hello, host);
    return true;
  }
}

/** Inside a tunnel a TLS client is told in TLS, and a client that speaks something else in HTTP: it can be read at least. */
const tunnelAnswer =
  (sent: readonly Uint8Array[]): Answer =>
  (error) =>
    (sent[0]?.[0] ?? HANDSHAKE_RECORD) === HANDSHAKE_RECORD ? alertFor(error) : problemAnswer(error);
