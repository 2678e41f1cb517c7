import { BUNDLE_FILES } from '../bundle-files';
import { printable, type Citation } from '../citation';
import type { Evidence } from '../evidence';
import { isObject, readJsonLines, type JsonLine } from '../json-lines';

/** One QMP event: qapi/run-state.json, qapi/block-core.json and qapi/char.json of QEMU's sources name them and their data. */
export interface QmpEvent {
  readonly name: string;
  /** QEMU's own time of the event, in ms since the Unix epoch. Arrival may lag: QEMU throttles some events to one a second. */
  readonly atMs: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly citation: Citation;
}

/** What QEMU reported about this incarnation. */
export interface QmpFacts {
  /** By QEMU's timestamp; in an order that does not depend on arrival. */
  readonly events: readonly QmpEvent[];
  /** Lines that are no event. */
  readonly skipped: number;
  /** Events older than the start of this incarnation, which are not looked at. */
  readonly stale: number;
}

/** Reads `events.jsonl`. Unknown events are kept, unknown keys ignored. */
export function qmpFacts(evidence: Evidence): QmpFacts {
  const { lines, skipped } = readJsonLines(evidence.events);
  const events: QmpEvent[] = [];
  let malformed = 0;
  let stale = 0;
  for (const line of lines) {
    const event = toEvent(line);
    if (event === null) malformed++;
    else if (event.atMs < evidence.meta.startedAtMs) stale++;
    else events.push(event);
  }
  events.sort((a, b) => a.atMs - b.atMs || rank(a) - rank(b) || compareText(a.citation.quote, b.citation.quote));
  return { events, skipped: skipped + malformed, stale };
}

/** The last event of that name (and for which `when` holds), or null. */
export function lastEvent(
  qmp: QmpFacts,
  name: string,
  when: (event: QmpEvent) => boolean = () => true,
): QmpEvent | null {
  return qmp.events.findLast((event) => event.name === name && when(event)) ?? null;
}

/** True when the guest was let run (RESUME, WAKEUP) after `event`: what that said is over. */
export function resumedAfter(qmp: QmpFacts, event: QmpEvent): boolean {
  return qmp.events.some(({ name, atMs }) => (name === 'RESUME' || name === 'WAKEUP') && atMs > event.atMs);
}

/** A string of an event's data; empty when it has none of that name. */
export function dataString(event: QmpEvent, name: string): string {
  const value = event.data[name];
  return typeof value === 'string' ? value : '';
}

/** Causes come before their consequences, should both carry the same microsecond. */
const RANKS: Readonly<Record<string, number>> = {
  WATCHDOG: 0,
  GUEST_PANICKED: 0,
  BLOCK_IO_ERROR: 0,
  SHUTDOWN: 1,
  RESET: 1,
  STOP: 2,
};
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const rank = (event: QmpEvent): number => RANKS[event.name] ?? 1;

function toEvent({ value, text, offset, length }: JsonLine): QmpEvent | null {
  const { event, timestamp, data } = value;
  if (typeof event !== 'string' || !isObject(timestamp)) return null;
  const { seconds, microseconds } = timestamp;
  if (typeof seconds !== 'number' || typeof microseconds !== 'number') return null;
  const atMs = seconds * 1000 + microseconds / 1000;
  if (!Number.isFinite(atMs)) return null;
  return {
    name: event,
    atMs,
    data: isObject(data) ? data : {},
    citation: { file: BUNDLE_FILES.events, offset, length, quote: printable(text) },
  };
}
