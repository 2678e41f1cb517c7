import type { Clock, DomainError } from '@inquest/kernel';
import type { EgressRecord, EgressRecorder, EgressVerdict, EgressWay } from './egress-record';
import type { SpliceEnd } from './splice';

/** Whom a connection is for, as far as that is known. */
interface Destination {
  readonly host: string;
  readonly port: number;
}

/** Writes the records of one connection of a guest. */
export class ConnectionJournal {
  private readonly startedMs: number;
  private destination: Destination | null = null;
  private address: string | null = null;

  constructor(
    private readonly way: EgressWay,
    private readonly connection: number,
    private readonly record: EgressRecorder,
    private readonly clock: Clock,
  ) {
    this.startedMs = clock.monotonicMs();
  }

  /** From now on records say where the guest wanted to go. */
  wants(destination: Destination): void {
    this.destination = destination;
  }

  /** From now on records say which address was connected to. */
  reaches(address: string): void {
    this.address = address;
  }

  /** Bytes may pass once this resolves. */
  opened(): Promise<void> {
    return this.write('allowed', { message: 'opened' });
  }

  ended({ how, bytesUp, bytesDown }: SpliceEnd): Promise<void> {
    return this.write('allowed', { message: how, bytesUp, bytesDown, isClosed: true });
  }

  /** Nothing passed. */
  rejected({ code, fault, message }: DomainError): Promise<void> {
    return this.write(fault === 'guest' ? 'refused' : 'failed', { code, message, isClosed: true });
  }

  private write(verdict: EgressVerdict, more: Partial<EgressRecord>): Promise<void> {
    return this.record({
      atMs: this.clock.nowMs(),
      way: this.way,
      connection: this.connection,
      verdict,
      code: null,
      message: '',
      host: this.destination?.host ?? null,
      port: this.destination?.port ?? null,
      address: this.address,
      isClosed: false,
      bytesUp: 0,
      bytesDown: 0,
      durationMs: Math.round(this.clock.monotonicMs() - this.startedMs),
      ...more,
    });
  }
}
