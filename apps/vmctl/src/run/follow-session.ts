import { createParser } from 'eventsource-parser';
import { SessionProgress } from '@inquest/contracts-agent';
import { parseDto } from '@inquest/config';
import { delay } from '@inquest/kernel';
import { entryFrom, type TranscriptEntry } from '@inquest/transcript';
import type { GatewayClient } from '../api/gateway-client';
import { cliError } from '../errors';
import { isAbsence } from './long-poll';

/** A gateway that restarts is back within seconds; this gives it a minute and more. */
const RECONNECTION: Reconnection = { maxSilentTries: 20, firstPauseMs: 100, maxPauseMs: 5_000 };

interface Reconnection {
  /** Tries in a row, without any event in between, before it gives up. */
  readonly maxSilentTries: number;
  /** Doubles with each try. */
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
}

interface Follower {
  readonly gateway: GatewayClient;
  readonly signal: AbortSignal;
}

interface StreamedEvent {
  readonly id: string | undefined;
  readonly data: string;
}

/**
 * The entries of a session from its first one, live, each once and in order, until `session_closed`. Survives a
 * gateway that restarts: it continues behind the last event seen. Throws what the platform answers, and
 * `CLI_PLATFORM_DOWN` when it stays away.
 */
export async function* followSession(
  { gateway, signal }: Follower,
  sessionId: string,
  { maxSilentTries, firstPauseMs, maxPauseMs }: Reconnection = RECONNECTION,
): AsyncGenerator<TranscriptEntry> {
  const path = `/v1/sessions/${encodeURIComponent(sessionId)}/events`;
  let lastEventId: string | undefined;
  let lastSequence = 0;
  for (let tries = 0; tries < maxSilentTries; tries++) {
    if (tries > 0) await delay(Math.min(maxPauseMs, firstPauseMs * 2 ** (tries - 1)), signal);
    try {
      const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
      for await (const event of eventsOf(await gateway.stream('GET', path, { headers }))) {
        tries = 0;
        lastEventId = event.id ?? lastEventId;
        const { sequence, entry } = parseDto(SessionProgress, JSON.parse(event.data), { unknown: 'strip' });
        const known = entryFrom(entry);
        if (sequence <= lastSequence || typeof known === 'string') continue;
        lastSequence = sequence;
        yield known;
        if (known.type === 'session_closed') return;
      }
    } catch (e) {
      if (signal.aborted || !isInterruption(e)) throw e;
    }
  }
  throw cliError(
    'CLI_PLATFORM_DOWN',
    `the events of session ${sessionId} broke off, and the gateway did not come back`,
  );
}

/** The connection broke, or whoever should make one is away. */
const isInterruption = (e: unknown): boolean =>
  isAbsence(e) || ['ECONNRESET', 'EPIPE'].includes((e as NodeJS.ErrnoException).code ?? '');

async function* eventsOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<StreamedEvent> {
  const arrived: StreamedEvent[] = [];
  const parser = createParser({ onEvent: ({ id, data }) => arrived.push({ id, data }) });
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* arrived.splice(0);
  }
}
