import type { Duplex } from 'node:stream';
import { abortable, kernelError } from '@inquest/kernel';
import { createMemoryLinkPair, type LinkPair } from '@inquest/guest-link/testing';
import { egressError } from '@inquest/egress-policy';
import type { HostNetwork } from '../host-network';

/** An internet of a few names and addresses. */
export interface FakeNetworkOptions {
  /** What each name resolves to. */
  readonly names: Readonly<Record<string, readonly string[]>>;
  /** What listens behind each address; owns the stream. */
  readonly servers: Readonly<Record<string, (stream: Duplex) => void>>;
  /** Names and addresses that never answer. */
  readonly silent?: readonly string[];
}

/** A network in this process. Remembers all that was asked of it. */
export class FakeNetwork implements HostNetwork {
  /** Every name that was looked up, in order. */
  readonly lookups: string[] = [];
  /** Every address and port that was dialled, in order. */
  readonly dials: string[] = [];
  private readonly links: LinkPair[] = [];

  constructor(private readonly options: FakeNetworkOptions) {}

  async resolve(host: string, signal: AbortSignal): Promise<readonly string[]> {
    this.lookups.push(host);
    await this.answer(host, signal);
    const addresses = this.options.names[host];
    if (addresses === undefined) throw egressError('EGRESS_NAME_UNRESOLVED', `${host} cannot be resolved (ENOTFOUND)`);
    return addresses;
  }

  async dial(address: string, port: number, signal: AbortSignal): Promise<Duplex> {
    this.dials.push(`${address} ${port}`);
    await this.answer(address, signal);
    const server = this.options.servers[address];
    if (server === undefined) throw egressError('EGRESS_HOST_UNREACHABLE', `${address} port ${port} does not answer`);
    const link = createMemoryLinkPair();
    this.links.push(link);
    await link.host.listen(port, server);
    return link.guest.connect(port, signal);
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    await Promise.all(this.links.flatMap(({ host, guest }) => [host.close(), guest.close()]));
  }

  private async answer(what: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw kernelError('OPERATION_ABORTED', `${what} was cancelled`, {}, signal.reason);
    const isSilent = this.options.silent?.includes(what) ?? false;
    if (isSilent) await abortable(new Promise(() => undefined), signal, what);
  }
}
