import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/** From a fast answer on loopback to a wait of a minute, in s. */
const DURATION_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** The Prometheus registry of one service; every series has the label `service`. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  readonly httpDuration: Histogram<'method' | 'route' | 'status'>;
  readonly rpcDuration: Histogram<'side' | 'subject' | 'outcome'>;

  constructor(serviceName: string) {
    this.registry.setDefaultLabels({ service: serviceName });
    collectDefaultMetrics({ register: this.registry });
    this.httpDuration = new Histogram({
      name: 'inquest_http_request_duration_seconds',
      help: 'Time from the arrival of an HTTP request to the end of its answer',
      labelNames: ['method', 'route', 'status'],
      buckets: DURATION_BUCKETS,
      registers: [this.registry],
    });
    this.rpcDuration = new Histogram({
      name: 'inquest_rpc_duration_seconds',
      help: 'Time of a request-reply call on NATS, at the client and at the server',
      labelNames: ['side', 'subject', 'outcome'],
      buckets: DURATION_BUCKETS,
      registers: [this.registry],
    });
  }
}
