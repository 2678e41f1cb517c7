import type { Duplex } from 'node:stream';
import type { GuestStreamHandler } from '@inquest/guest-link';
import { egressError } from '@inquest/egress-policy';
import type { GuestConnection } from './guest-connection';
import { splice } from './splice';
import { connectTcp } from './tcp-connection';
import { WayOut, type WayOutOptions } from './way-out';
import { within } from './within';

/** Port of the guest link on which the host listens for the local model (docs/guest-protocol.md); Ollama's own port. */
export const LOCAL_MODEL_PORT = 11434;

/** Where the local model of a node is. */
export interface ModelEndpoint {
  /** A name or an address. */
  readonly host: string;
  readonly port: number;
}

/** What one machine's pipe is made of. */
export interface LocalModelPipeOptions extends WayOutOptions {
  readonly endpoint: ModelEndpoint;
}

/**
 * The host's end of a machine's pipe to the model of its node. Every connection goes to the one endpoint of the
 * configuration: nothing that a guest sends is read here, so nothing in it can choose a destination.
 */
export class LocalModelPipe {
  private readonly wayOut: WayOut;

  constructor(private readonly options: LocalModelPipeOptions) {
    this.wayOut = new WayOut({ way: 'local_model', answer: () => '', serve: (c) => this.serve(c) }, options);
  }

  /** For the listener of the guest link on `LOCAL_MODEL_PORT`. */
  get accept(): GuestStreamHandler {
    return this.wayOut.accept;
  }

  /** Connections that are open now. */
  get openCount(): number {
    return this.wayOut.openCount;
  }

  /** Ends every connection and refuses further ones. Idempotent, never rejects. When it resolves, all is recorded. */
  close(): Promise<void> {
    return this.wayOut.close();
  }

  private async serve({ stream, signal, closingSignal, journal }: GuestConnection): Promise<void> {
    const { endpoint, limits } = this.options;
    journal.wants(endpoint);
    const remote = await this.connect(signal);
    await journal.opened();
    await journal.ended(await splice(stream, remote, { ...limits, signal: closingSignal }));
  }

  private connect(signal: AbortSignal): Promise<Duplex> {
    const { endpoint, limits } = this.options;
    const late = egressError('EGRESS_HOST_UNREACHABLE', `the local model did not accept within ${limits.dialMs} ms`);
    return within({ ms: limits.dialMs, signal, late }, (s) => connectTcp(endpoint.host, endpoint.port, s));
  }
}
