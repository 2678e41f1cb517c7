import { createParser } from 'eventsource-parser';
import { SessionProgress } from '@inquest/contracts-agent';
import { parseDto } from '@inquest/config';
import { hasCode } from '@inquest/kernel';
import { entryFrom, type TranscriptEntry } from '@inquest/transcript';
import type { CliContext } from '../context';

/** Reconnects this often in a row, without any event in between, before it gives up. */
const MAX_SILENT_TRIES = 20;

interface StreamedEvent {
  readonly id: string | undefined;
  readonly data: string;
}

/**
 * The entries of a session from its first one, live, each once and in order, until `session_closed`. Survives a
 * gateway that restarts: it continues behind the last event seen. Throws what the platform answers.
 */
export async function* followSession({ gateway, signal }: CliContext, sessionId: string): AsyncGenerator<TranscriptEntry> {
  const path = `/v1/sessions/${encodeURIComponent(sessionId)}/events`;
  let lastEventId: string | undefined;
  let lastSequence = 0;
  for (let tries = 0; tries < MAX_SILENT_TRIES; tries++) {
    try {
      const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
      for await (const event of eventsOf(await gateway.stream('GET', path, { signal, headers }))) {
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
}

/** The gateway went away: worth another try, unlike an answer of it. */
const isInterruption = (e: unknown): boolean =>
  hasCode(e, 'CLI_PLATFORM_DOWN') || ['ECONNRESET', 'EPIPE'].includes((e as NodeJS.ErrnoException).code ?? '');

async function* eventsOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<StreamedEvent> {
  const arrived: StreamedEvent[] = [];
  const parser = createParser({ onEvent: ({ id, data }) => arrived.push({ id, data }) });
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* arrived.splice(0);
  }
}
