import { Inject, Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { connect, Events, type NatsConnection } from 'nats';
import { abortable, delay, withDeadline } from '@inquest/kernel';
import { messagingError } from './errors';
import { MESSAGING_OPTIONS, type MessagingOptions } from './messaging-options';

/** An unbroken stretch of one connection. `lost` aborts when it breaks, also when the same connection comes back. */
export interface NatsSession {
  readonly connection: NatsConnection;
  readonly lost: AbortSignal;
}

/** A service starts without NATS after this long: its /healthz and /readyz must answer. */
const FIRST_CONNECT_WAIT_MS = 5_000;
const RETRY_MS = 250;
const RETRY_JITTER_MS = 100;
const HANDSHAKE_TIMEOUT_MS = 5_000;
/** A silent server is noticed after two unanswered pings: readiness must be lost within 5 s. */
const PING_INTERVAL_MS = 1_500;
const MAX_PINGS_OUT = 2;
const CLOSE_TIMEOUT_MS = 2_000;

/**
 * The one NATS connection of a process. Connects and reconnects for as long as the process lives, also when the
 * credentials were refused: they may be on their way to the server.
 */
@Injectable()
export class NatsClient implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(NatsClient.name);
  private readonly stopping = new AbortController();
  private readonly listeners: ((session: NatsSession) => void)[] = [];
  private readonly waiting: ((session: NatsSession) => void)[] = [];
  private current: { readonly session: NatsSession; readonly breaks: AbortController } | null = null;
  private running: Promise<void> | null = null;

  constructor(@Inject(MESSAGING_OPTIONS) private readonly options: MessagingOptions) {}

  /** Resolves when connected, or after 5 s without: connecting goes on. */
  async onModuleInit(): Promise<void> {
    this.running ??= this.keepConnected();
    await withDeadline(this.nextSession(this.stopping.signal), FIRST_CONNECT_WAIT_MS, 'connecting to NATS').catch(() =>
      this.logger.warn(`no connection to NATS at ${this.options.natsUrl} yet; still trying`),
    );
  }

  /** Flushes and closes. Later calls answer `RPC_DISCONNECTED`. */
  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    const connection = this.current?.session.connection;
    this.endSession();
    if (connection !== undefined && !connection.isClosed()) {
      await withDeadline(connection.drain(), CLOSE_TIMEOUT_MS, 'draining NATS').catch(() => connection.close());
    }
    await this.running;
  }

  /** The present session. Throws `RPC_DISCONNECTED`. */
  session(): NatsSession {
    if (this.current === null) {
      throw messagingError('RPC_DISCONNECTED', `${this.options.serviceName} is not connected to NATS`, {
        service: this.options.serviceName,
      });
    }
    return this.current.session;
  }

  /** The present session, or the next one. Rejects with `OPERATION_ABORTED` when `signal` aborts first. */
  async nextSession(signal: AbortSignal): Promise<NatsSession> {
    if (this.current !== null) return this.current.session;
    const next = new Promise<NatsSession>((resolve) => this.waiting.push(resolve));
    return abortable(next, signal, 'waiting for NATS');
  }

  /** Calls `listener` with the present session and with every later one. */
  onSession(listener: (session: NatsSession) => void): void {
    this.listeners.push(listener);
    if (this.current !== null) listener(this.current.session);
  }

  /** Asks the server for a sign of life; the round trip in ms. Throws `RPC_DISCONNECTED`, `DEADLINE_EXCEEDED`. */
  async roundTripMs(timeoutMs: number): Promise<number> {
    return withDeadline(this.session().connection.rtt(), timeoutMs, 'the answer of nats-server');
  }

  private async keepConnected(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const connection = await this.connectOnce();
      if (connection === null) {
        await delay(RETRY_MS, this.stopping.signal).catch(() => undefined);
        continue;
      }
      if (this.stopping.signal.aborted) return void (await connection.close());
      this.logger.log(`connected to NATS at ${connection.getServer()}`);
      this.beginSession(connection);
      void this.followStatus(connection);
      await connection.closed();
      this.endSession();
    }
  }

  private async connectOnce(): Promise<NatsConnection | null> {
    const { serviceName, natsUrl, natsUser, natsPassword } = this.options;
    try {
      return await connect({
        name: serviceName,
        servers: natsUrl.split(','),
        ...(natsUser === undefined ? {} : { user: natsUser }),
        ...(natsPassword === undefined ? {} : { pass: natsPassword }),
        timeout: HANDSHAKE_TIMEOUT_MS,
        maxReconnectAttempts: -1,
        reconnectTimeWait: RETRY_MS,
        reconnectJitter: RETRY_JITTER_MS,
        pingInterval: PING_INTERVAL_MS,
        maxPingOut: MAX_PINGS_OUT,
        ignoreAuthErrorAbort: true,
        // An error says which subject it is of; a stack for each request would be made for nobody.
        noAsyncTraces: true,
      });
    } catch (e) {
      this.logger.debug(`cannot connect to NATS at ${natsUrl}`, e);
      return null;
    }
  }

  /** The client library does not end the status of a closed connection, so nobody waits for this. */
  private async followStatus(connection: NatsConnection): Promise<void> {
    for await (const { type, data } of connection.status()) {
      if (type === Events.Disconnect) {
        this.logger.warn('lost the connection to NATS; reconnecting');
        this.endSession();
      } else if (type === Events.Reconnect) {
        this.logger.log(`connected to NATS again at ${connection.getServer()}`);
        this.beginSession(connection);
      } else if (type === Events.Error) {
        this.logger.error(`nats-server refused something: ${JSON.stringify(data)}`);
      }
    }
  }

  private beginSession(connection: NatsConnection): void {
    this.endSession();
    const breaks = new AbortController();
    const session: NatsSession = { connection, lost: breaks.signal };
    this.current = { session, breaks };
    for (const listener of [...this.listeners, ...this.waiting.splice(0)]) listener(session);
  }

  private endSession(): void {
    const ended = this.current;
    this.current = null;
    ended?.breaks.abort();
  }
}
