import { DiscardPolicy, nanos, RetentionPolicy, StorageType, type NatsConnection, type StreamConfig } from 'nats';

/** The JetStream stream that keeps all events of the platform. */
export const EVENT_STREAM = 'INQUEST_EVENTS';

/** Larger events are refused. Below NATS' limit of 1 MiB, so that its headers always fit. */
export const MAX_EVENT_BYTES = 512 * 1024;

const DAY_MS = 24 * 60 * 60 * 1000;
/** A publisher that was not sure repeats itself well within this time. */
const DUPLICATE_WINDOW_MS = 10 * 60 * 1000;

/** A watcher that stays away longer than a week, or behind more than 1 GiB, misses the oldest events. */
const config: Partial<StreamConfig> & { readonly name: string } = {
  name: EVENT_STREAM,
  subjects: ['inquest.v1.evt.>'],
  retention: RetentionPolicy.Limits,
  storage: StorageType.File,
  discard: DiscardPolicy.Old,
  max_age: nanos(7 * DAY_MS),
  max_bytes: 1024 * 1024 * 1024,
  max_msg_size: MAX_EVENT_BYTES + 16 * 1024,
  duplicate_window: nanos(DUPLICATE_WINDOW_MS),
};

/**
 * Makes the event stream, or brings its limits up to date. May run in several processes at once. Rejects with the error
 * of the NATS client; the stream is then as it was.
 */
export async function ensureStreams(connection: NatsConnection): Promise<void> {
  const manager = await connection.jetstreamManager();
  const exists = await manager.streams.info(EVENT_STREAM).then(
    () => true,
    () => false,
  );
  if (exists) await manager.streams.update(EVENT_STREAM, config);
  else await manager.streams.add(config);
}
