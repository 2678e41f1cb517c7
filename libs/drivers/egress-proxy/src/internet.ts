import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { abortable } from '@inquest/kernel';
import { egressError } from '@inquest/egress-policy';
import type { HostNetwork } from './host-network';
import { connectTcp } from './tcp-connection';

/** One question to one name server, in ms, and how often it is asked. */
const QUERY_TIMEOUT_MS = 2_000;
const QUERY_TRIES = 2;

/** Where to ask instead of the system's name servers, each `address` or `address:port`. */
export interface InternetOptions {
  readonly nameServers?: readonly string[];
}

/**
 * The internet as this host sees it. Names are asked of the name servers themselves: no hosts file, no search domains,
 * and no thread of the process's pool, which a guest could fill with names that never answer.
 */
export class Internet implements HostNetwork {
  constructor(private readonly options: InternetOptions = {}) {}

  async resolve(host: string, signal: AbortSignal): Promise<readonly string[]> {
    const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
    if (this.options.nameServers !== undefined) resolver.setServers(this.options.nameServers);
    const questions = Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    try {
      const answers = await abortable(questions, signal, `resolving ${host}`);
      const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      if (addresses.length === 0) throw unresolved(host, answers);
      return addresses;
    } finally {
      resolver.cancel();
    }
  }

  async dial(address: string, port: number, signal: AbortSignal): Promise<Duplex> {
    if (isIP(address) === 0) throw egressError('EGRESS_HOST_UNREACHABLE', `"${address}" is no address to connect to`);
    return connectTcp(address, port, signal);
  }
}

function unresolved(host: string, answers: readonly PromiseSettledResult<string[]>[]): Error {
  const [failure] = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : []));
  const why = (failure as NodeJS.ErrnoException | undefined)?.code ?? 'no address';
  return egressError('EGRESS_NAME_UNRESOLVED', `${host} cannot be resolved (${why})`, {}, failure);
}
