import type { GuestStreamHandler } from '@inquest/guest-link';
import { systemClock, toDomainError, type Clock } from '@inquest/kernel';
import { egressError } from '@inquest/egress-policy';
import { ConnectionJournal } from './connection-journal';
import type { EgressLimits } from './egress-limits';
import type { EgressRecorder, EgressWay } from './egress-record';
import { GuestConnection, type Answer } from './guest-connection';

/** What all ways out have in common. */
export interface WayOutOptions {
  readonly record: EgressRecorder;
  readonly limits: EgressLimits;
  readonly clock?: Clock;
}

/** What makes one way out different from another. */
export interface WayOutKind {
  readonly way: EgressWay;
  /** How a guest is told of an error before anything else was said. */
  readonly answer: Answer;
  /** Serves one connection to its end. Throws why not; the caller tells the guest, records it and closes the stream. */
  readonly serve: (connection: GuestConnection) => Promise<void>;
}

/** The connections of one machine on one way out: bounded in number, recorded, ended together. */
export class WayOut {
  private readonly connections = new Map<GuestConnection, Promise<void>>();
  private served = 0;
  private opened = 0;
  private isClosed = false;

  constructor(
    private readonly kind: WayOutKind,
    private readonly options: WayOutOptions,
  ) {}

  /** For the listener of the guest link. */
  readonly accept: GuestStreamHandler = (stream) => {
    if (this.isClosed) return void stream.destroy();
    const { record, clock = systemClock } = this.options;
    const journal = new ConnectionJournal(this.kind.way, ++this.opened, record, clock);
    const connection = new GuestConnection(stream, journal, this.kind.answer);
    const done = this.run(connection).finally(() => this.connections.delete(connection));
    this.connections.set(connection, done);
  };

  /** Connections that are open now. */
  get openCount(): number {
    return this.connections.size;
  }

  /** Ends every connection and refuses further ones. Idempotent, never rejects. When it resolves, all is recorded. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const connection of this.connections.keys()) connection.abort();
    await Promise.all(this.connections.values());
  }

  /** Never rejects. */
  private async run(connection: GuestConnection): Promise<void> {
    try {
      await this.serveInTurn(connection);
    } catch (e) {
      const error = toDomainError(e);
      await Promise.all([connection.journal.rejected(error), connection.turnAway(error)]);
    } finally {
      connection.stream.destroy();
    }
  }

  private async serveInTurn(connection: GuestConnection): Promise<void> {
    const { maxConnections } = this.options.limits;
    if (this.served >= maxConnections) {
      const message = `the machine has ${maxConnections} connections open already, which is as many as it may have`;
      throw egressError('EGRESS_CONNECTIONS_EXHAUSTED', message, { maxConnections });
    }
    this.served++;
    try {
      await this.kind.serve(connection);
    } finally {
      this.served--;
    }
  }
}
