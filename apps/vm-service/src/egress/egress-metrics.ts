import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import type { EgressRecord } from '@inquest/egress-proxy';
import { Metrics } from '@inquest/metrics';

/** Counters over all machines of the node. No host name is a label: guests must not be able to make series. */
@Injectable()
export class EgressMetrics {
  private readonly connections: Counter<'way' | 'verdict' | 'code'>;
  private readonly bytes: Counter<'way' | 'direction'>;

  constructor({ registry }: Metrics) {
    this.connections = new Counter({
      name: 'inquest_egress_connections_total',
      help: 'Connections of guests to the outside that have ended, by what was decided',
      labelNames: ['way', 'verdict', 'code'],
      registers: [registry],
    });
    this.bytes = new Counter({
      name: 'inquest_egress_bytes_total',
      help: 'Bytes that passed in them',
      labelNames: ['way', 'direction'],
      registers: [registry],
    });
  }

  count({ way, verdict, code, isClosed, bytesUp, bytesDown }: EgressRecord): void {
    if (!isClosed) return;
    this.connections.inc({ way, verdict, code: code ?? 'none' });
    this.bytes.inc({ way, direction: 'up' }, bytesUp);
    this.bytes.inc({ way, direction: 'down' }, bytesDown);
  }
}
