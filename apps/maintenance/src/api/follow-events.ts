import { createParser } from 'eventsource-parser';
import { Problem } from './problem';
import { openGateway } from './request';

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 10_000;

/** One server-sent event. */
export interface StreamedEvent {
  readonly id: string | undefined;
  readonly data: string;
}

/** What happens to a watched stream besides its events. */
export interface FollowOptions {
  readonly signal: AbortSignal;
  /** The stream is open, or was cut and is tried again. */
  readonly onConnection: (isConnected: boolean) => void;
}

/**
 * The events of a stream, over as many connections as it takes: each new one continues behind the last event seen
 * (`Last-Event-ID`). `EventSource` cannot send the bearer token, so this reads the body of a fetch. Ends when `signal`
 * aborts; throws the `Problem` of an answer that another try cannot change.
 */
export async function* followEvents(path: string, options: FollowOptions): AsyncGenerator<StreamedEvent> {
  const { signal, onConnection } = options;
  let lastEventId: string | undefined;
  let retryMs = FIRST_RETRY_MS;
  while (!signal.aborted) {
    try {
      const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
      const response = await openGateway(path, { signal, headers });
      onConnection(true);
      for await (const event of eventsOf(response)) {
        lastEventId = event.id ?? lastEventId;
        retryMs = FIRST_RETRY_MS;
        yield event;
      }
    } catch (e) {
      if (signal.aborted) return;
      if (e instanceof Problem && e.status >= 400 && e.status < 500) throw e;
    }
    onConnection(false);
    await pause(retryMs, signal);
    retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
  }
}

async function* eventsOf(response: Response): AsyncGenerator<StreamedEvent> {
  if (response.body === null) return;
  const arrived: StreamedEvent[] = [];
  const parser = createParser({ onEvent: ({ id, data }) => arrived.push({ id, data }) });
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* arrived.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Resolves after `ms`, or as soon as `signal` aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done, { once: true });
  });
}
