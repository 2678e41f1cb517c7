import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { ErrorCode, type NatsError } from 'nats';
import { parseDto } from '@inquest/config';
import { delay, type EventContract } from '@inquest/kernel';
import { currentTraceId } from '@inquest/logging';
import { messagingError } from './errors';
import { encodeEvent, eventFilter, type EncodedEvent } from './event-codec';
import { ensureStreams } from './event-stream';
import { followEvents, type StoredEvent, type StreamStart } from './follow-events';
import { NatsClient, type NatsSession } from './nats-client';
import { decodeJsonObject, traceHeaders } from './rpc-envelope';

/** One event as a watcher sees it. */
export interface ReceivedEvent<Body extends object> {
  /** Its place in the stream; a watcher that comes back continues with `fromSequence: sequence + 1`. */
  readonly sequence: number;
  readonly subject: string;
  readonly body: Body;
  /** When the stream stored it, ms since the Unix epoch. */
  readonly timeMs: number;
}

export interface SubscribeOptions {
  /** One entry per id token of the contract, `*` for any; a last `>` for any number. All events when left out. */
  readonly ids?: readonly string[];
  /** First sequence wanted, included. */
  readonly fromSequence?: number;
  /** Only events stored at or after this time, ms since the Unix epoch. */
  readonly sinceMs?: number;
  /** Ends the iteration. */
  readonly signal: AbortSignal;
}

const PUBLISH_TIMEOUT_MS = 5_000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

/** Events on JetStream: stored in order, so that a watcher that comes late or reconnects continues where it was. */
@Injectable()
export class EventBus implements OnModuleInit {
  private readonly logger = new Logger(EventBus.name);

  constructor(private readonly nats: NatsClient) {}

  onModuleInit(): void {
    this.nats.onSession((session) => void this.prepare(session));
  }

  /**
   * Resolves when the stream has stored the event; the same `messageId` within ten minutes is stored once. Throws
   * `EVENT_OVERSIZED`, `ID_INVALID`, `RPC_DISCONNECTED`, and `EVENT_NOT_STORED` when it is unknown whether it was.
   */
  publish<Body extends object>(
    contract: EventContract<Body>,
    idTokens: readonly string[],
    body: Body,
    { messageId }: { readonly messageId: string },
  ): Promise<void> {
    return this.publishEncoded(encodeEvent(contract, idTokens, body), { messageId, traceId: currentTraceId() });
  }

  /** `publish` for an event that was encoded earlier, as the outbox keeps it. */
  async publishEncoded(
    { subject, json }: EncodedEvent,
    { messageId, traceId }: { readonly messageId: string; readonly traceId: string | null },
  ): Promise<void> {
    const { connection } = this.nats.session();
    const store = () =>
      connection.jetstream().publish(subject, json, {
        msgID: messageId,
        timeout: PUBLISH_TIMEOUT_MS,
        headers: traceHeaders(traceId),
      });
    try {
      await store().catch(async (e: unknown) => {
        // Nobody answers when the stream is missing: it may have been lost with the store of nats-server.
        if ((e as Partial<NatsError>).code !== ErrorCode.NoResponders) throw e;
        await ensureStreams(connection);
        await store();
      });
    } catch (e) {
      throw messagingError(
        'EVENT_NOT_STORED',
        `the event stream did not confirm an event for ${subject}`,
        { subject },
        e,
      );
    }
  }

  /**
   * Every stored event of the contract, in order, then the ones to come; without `fromSequence` and `sinceMs` from the
   * oldest one that is kept. Survives restarts of nats-server without loss; an event may be seen twice only by a
   * watcher that starts again. Events whose body breaks the contract are logged and left out. Ends when `signal`
   * aborts; throws only `INPUT_INVALID`, for wrong `ids`.
   */
  async *subscribe<Body extends object>(
    contract: EventContract<Body>,
    options: SubscribeOptions,
  ): AsyncGenerator<ReceivedEvent<Body>, void, undefined> {
    const { signal } = options;
    const filter = eventFilter(contract, options.ids);
    let start: StreamStart = { sequence: options.fromSequence ?? null, timeMs: options.sinceMs ?? null };
    let retryMs = FIRST_RETRY_MS;
    while (!signal.aborted) {
      try {
        const session = await this.nats.nextSession(signal);
        for await (const stored of followEvents(session, filter, start, signal)) {
          start = { sequence: stored.sequence + 1, timeMs: null };
          retryMs = FIRST_RETRY_MS;
          const event = this.decode(contract, stored);
          if (event !== null) yield event;
        }
      } catch (e) {
        if (signal.aborted) return;
        this.logger.debug(`watching ${filter} was interrupted`, e);
      }
      await delay(retryMs, signal).catch(() => undefined);
      retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
    }
  }

  private decode<Body extends object>(contract: EventContract<Body>, stored: StoredEvent): ReceivedEvent<Body> | null {
    const { sequence, subject, timeMs } = stored;
    try {
      const body = parseDto(contract.body, decodeJsonObject(stored.data), { unknown: 'strip' });
      return { sequence, subject, body, timeMs };
    } catch (e) {
      this.logger.warn(`event ${sequence} on ${subject} breaks its contract and is left out`, e);
      return null;
    }
  }

  private async prepare({ connection, lost }: NatsSession): Promise<void> {
    await ensureStreams(connection).catch((e: unknown) => {
      if (!lost.aborted) this.logger.warn('the event stream cannot be prepared yet', e);
    });
  }
}
