import { setMaxListeners } from 'node:events';
import { Inject, Injectable } from '@nestjs/common';
import {
  NatsContext,
  Server,
  Transport,
  type CustomTransportStrategy,
  type MessageHandler,
} from '@nestjs/microservices';
import type { Msg, MsgHdrs, NatsConnection, Subscription } from 'nats';
import { isObservable, lastValueFrom } from 'rxjs';
import { abortable, hasCode, kernelError, systemClock, toDomainError, withDeadline } from '@inquest/kernel';
import { runWithTrace, TRACE_HEADER, traceIdFrom } from '@inquest/logging';
import { messagingError } from './errors';
import { MESSAGING_OPTIONS, type MessagingOptions } from './messaging-options';
import { NatsClient, type NatsSession } from './nats-client';
import { decodeJsonObject, encodeJson, traceHeaders, type ReplyEnvelope } from './rpc-envelope';
import type { HandlerRoute } from './rpc-handler';
import { RpcObservers } from './rpc-observers';

/** Requests at work at once; waiting ones (a wait of 55 s) count too. */
const MAX_IN_FLIGHT = 1_024;
/** A service must be gone 10 s after SIGTERM; the rest of that is for its own releases. */
const DRAIN_MS = 5_000;
/** One round trip to nats-server. */
const SUBSCRIBE_TIMEOUT_MS = 5_000;

/**
 * Answers operations: the strategy of Nest's microservice. In place of Nest's own NATS server, in which one oversized
 * reply or one message that is not JSON is an unhandled rejection that ends the process. Here every request that has a
 * reply subject gets exactly one reply, and nothing that arrives can do more than that.
 */
@Injectable()
export class RpcServer extends Server implements CustomTransportStrategy {
  override readonly transportId = Transport.NATS;
  private readonly stopping = new AbortController();
  private readonly inFlight = new Set<Promise<void>>();
  private subscriptions: Subscription[] = [];
  private connection: NatsConnection | null = null;

  constructor(
    private readonly nats: NatsClient,
    private readonly observers: RpcObservers,
    @Inject(MESSAGING_OPTIONS) private readonly options: MessagingOptions,
  ) {
    super();
    setMaxListeners(MAX_IN_FLIGHT, this.stopping.signal);
  }

  /**
   * Answers from the next connection on; does not wait for it, so that a service starts without NATS. Where there is one
   * already, whoever calls after the start is answered.
   */
  listen(started: () => void): void {
    this.nats.onSession((session) => this.subscribeAll(session));
    const subscribed = this.connection?.flush() ?? Promise.resolve();
    void withDeadline(subscribed, SUBSCRIBE_TIMEOUT_MS, 'subscribing')
      .catch((e: unknown) => void this.logger.warn('nats-server did not confirm the subscriptions', e))
      .then(started);
  }

  /** Takes no new requests, lets those at work finish, answers the rest with `RPC_SERVER_STOPPING`. */
  async close(): Promise<void> {
    for (const subscription of this.subscriptions) subscription.unsubscribe();
    this.subscriptions = [];
    await withDeadline(this.settled(), this.options.drainMs ?? DRAIN_MS, 'draining requests').catch(() => undefined);
    this.stopping.abort();
    await this.settled();
  }

  /** Nest asks strategies for events of their own; there are none. */
  on(): void {}

  unwrap<T>(): T {
    return this.nats.session().connection as T;
  }

  private async settled(): Promise<void> {
    await Promise.all(this.inFlight);
  }

  private subscribeAll({ connection }: NatsSession): void {
    // The client library renews the subscriptions of a connection that came back.
    if (connection === this.connection || this.stopping.signal.aborted) return;
    this.connection = connection;
    this.subscriptions = [...this.getHandlers()].map(([pattern, handler]) =>
      this.subscribe(connection, pattern, handler),
    );
  }

  private subscribe(connection: NatsConnection, pattern: string, handler: MessageHandler): Subscription {
    const { perNode, everyNode } = routeOf(handler);
    const subject = perNode ? `${pattern}.${this.options.nodeId}` : pattern;
    return connection.subscribe(subject, {
      ...(everyNode ? {} : { queue: this.options.serviceName }),
      callback: (error, message) => {
        if (error === null) this.take(connection, pattern, handler, message);
        else this.logger.error(`the subscription of ${subject} failed`, error);
      },
    });
  }

  private take(connection: NatsConnection, pattern: string, handler: MessageHandler, message: Msg): void {
    const work = runWithTrace(traceIdFrom(message.headers?.get(TRACE_HEADER)), () =>
      this.answer(connection, pattern, handler, message),
    ).finally(() => this.inFlight.delete(work));
    this.inFlight.add(work);
  }

  /** Never rejects. */
  private async answer(
    connection: NatsConnection,
    pattern: string,
    handler: MessageHandler,
    message: Msg,
  ): Promise<void> {
    const startedMs = systemClock.monotonicMs();
    const envelope = decodeJsonObject(message.data);
    const id = typeof envelope?.['id'] === 'string' ? envelope['id'] : null;
    let reply: ReplyEnvelope | null;
    try {
      const response = await this.handle(handler, envelope, message);
      reply = response === null && routeOf(handler).everyNode ? null : { id, response, isDisposed: true };
    } catch (e) {
      reply = this.failure(id, pattern, e);
    }
    const sent = reply === null ? null : this.respond(connection, pattern, message, reply);
    this.observers.notify({
      side: 'server',
      subject: pattern,
      outcome: sent?.err?.code ?? 'ok',
      durationMs: systemClock.monotonicMs() - startedMs,
    });
  }

  private async handle(
    handler: MessageHandler,
    envelope: Record<string, unknown> | null,
    message: Msg,
  ): Promise<unknown> {
    if (envelope === null) {
      throw kernelError('INPUT_INVALID', `the message on ${message.subject} is not a JSON object`, {});
    }
    if (this.inFlight.size >= MAX_IN_FLIGHT) {
      const details = { service: this.options.serviceName, limit: MAX_IN_FLIGHT };
      throw messagingError(
        'RPC_SERVER_BUSY',
        `${this.options.serviceName} works on ${MAX_IN_FLIGHT} requests`,
        details,
      );
    }
    const context = new NatsContext([message.subject, message.headers as MsgHdrs]);
    const work = Promise.resolve(handler(envelope['data'], context)).then((result: unknown) =>
      isObservable(result) ? lastValueFrom(result, { defaultValue: null }) : result,
    );
    const response: unknown = await abortable(work, this.stopping.signal, `the request on ${message.subject}`);
    return response ?? null;
  }

  private failure(id: string | null, pattern: string, e: unknown): ReplyEnvelope {
    if (this.stopping.signal.aborted && hasCode(e, 'OPERATION_ABORTED')) {
      const stopped = messagingError('RPC_SERVER_STOPPING', `${this.options.serviceName} is stopping`, {
        subject: pattern,
      });
      return { id, err: stopped.toBody(), isDisposed: true };
    }
    const error = toDomainError(e);
    if (error.status >= 500) this.logger.error(`${pattern} failed: ${error.message}`, error);
    return { id, err: error.toBody(), isDisposed: true };
  }

  /** Sends a reply, or the reason why it cannot be sent; what was sent in the end. */
  private respond(connection: NatsConnection, pattern: string, message: Msg, reply: ReplyEnvelope): ReplyEnvelope {
    let sent = reply;
    let payload: Uint8Array;
    try {
      payload = encodeJson(reply);
      const limit = connection.info?.max_payload ?? Number.POSITIVE_INFINITY;
      if (payload.length > limit) {
        const details = { subject: pattern, sizeBytes: payload.length, limitBytes: limit };
        throw messagingError('RPC_REPLY_OVERSIZED', `the reply of ${pattern} has ${payload.length} bytes`, details);
      }
    } catch (e) {
      sent = this.failure(reply.id, pattern, e);
      payload = encodeJson(sent);
    }
    try {
      message.respond(payload, { headers: traceHeaders() });
    } catch (e) {
      // Closed for good: the caller has its own deadline.
      this.logger.warn(`the reply of ${pattern} could not be sent`, e);
    }
    return sent;
  }
}

const routeOf = (handler: MessageHandler): HandlerRoute => ({ perNode: false, everyNode: false, ...handler.extras });
