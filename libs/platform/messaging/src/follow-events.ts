import { AckPolicy, DeliverPolicy, nanos, type ConsumerConfig, type JetStreamManager } from 'nats';
import { EVENT_STREAM } from './event-stream';
import type { NatsSession } from './nats-client';

/** Where reading begins: at a sequence, else at a time, else at the oldest event. */
export interface StreamStart {
  readonly sequence: number | null;
  readonly timeMs: number | null;
}

export interface StoredEvent {
  readonly sequence: number;
  readonly subject: string;
  readonly data: Uint8Array;
  readonly timeMs: number;
}

const BATCH = 256;
/** One pull waits this long for events. */
const PULL_EXPIRES_MS = 30_000;
/** The server forgets a consumer that nobody pulls from. Longer than one pull. */
const CONSUMER_INACTIVE_MS = 60_000;

/**
 * Stored events in order within one session, through a consumer of its own. Ends when the session breaks, when `signal`
 * aborts, or when an event was lost on the way: the caller continues after the last one it got.
 */
export async function* followEvents(
  { connection, lost }: NatsSession,
  filterSubject: string,
  start: StreamStart,
  signal: AbortSignal,
): AsyncGenerator<StoredEvent, void, undefined> {
  const manager = await connection.jetstreamManager();
  const { name } = await manager.consumers.add(EVENT_STREAM, {
    ...(await deliverFrom(manager, start)),
    filter_subject: filterSubject,
    ack_policy: AckPolicy.None,
    max_deliver: 1,
    mem_storage: true,
    inactive_threshold: nanos(CONSUMER_INACTIVE_MS),
  });
  const ended = AbortSignal.any([lost, signal]);
  let delivered = 0;
  try {
    const consumer = await connection.jetstream().consumers.get(EVENT_STREAM, name);
    while (!ended.aborted) {
      const messages = await consumer.fetch({ max_messages: BATCH, expires: PULL_EXPIRES_MS });
      const stop = (): void => messages.stop();
      ended.addEventListener('abort', stop, { once: true });
      if (ended.aborted) stop();
      try {
        for await (const { info, subject, data } of messages) {
          if (ended.aborted || info.deliverySequence !== ++delivered) return;
          yield { sequence: info.streamSequence, subject, data, timeMs: Math.floor(info.timestampNanos / 1_000_000) };
        }
      } finally {
        ended.removeEventListener('abort', stop);
        messages.stop();
      }
    }
  } finally {
    if (!lost.aborted) await manager.consumers.delete(EVENT_STREAM, name).catch(() => undefined);
  }
}

/** `deliver_policy: all` must not be sent: this client then waits for ever on nats-server before 2.10 (error 10094). */
async function deliverFrom(
  manager: JetStreamManager,
  { sequence, timeMs }: StreamStart,
): Promise<Partial<ConsumerConfig>> {
  if (sequence === null && timeMs !== null) {
    return { deliver_policy: DeliverPolicy.StartTime, opt_start_time: new Date(timeMs).toISOString() };
  }
  const { state } = await manager.streams.info(EVENT_STREAM);
  // The stream began anew, for example with an empty store: a start beyond its end would skip what comes next.
  const isBeyondEnd = sequence !== null && sequence > state.last_seq + 1;
  return {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: isBeyondEnd || sequence === null ? 1 : Math.max(1, sequence),
  };
}
