import type { VerdictView } from '@inquest/contracts-vm';
import { decodeAction, decodeProbe, type ProbeRecord } from '@inquest/verdict-engine';
import type { Tone } from '../../components/tone';
import { count, duration, size, words } from '../../text/phrases';
import { isCited, linesOf, objectOf, type EvidenceLine } from './evidence-lines';

/** Who observed: the host itself (what it was asked to do), its probes, the machine monitor, or the egress proxy. */
export type TimelineSource = 'host' | 'probe' | 'monitor' | 'network';

/** One thing that was observed, or several equal ones in a row. */
export interface TimelineEntry {
  /** ms since the Unix epoch, of the first and the last of them. */
  readonly atMs: number;
  readonly untilMs: number;
  readonly count: number;
  readonly source: TimelineSource;
  readonly title: string;
  readonly detail: string;
  readonly tone: Tone;
  /** The verdict cites it. */
  readonly isDeciding: boolean;
}

/** A text file of the bundle, as far as it was read. */
export interface FileText {
  readonly text: string;
  readonly startOffset: number;
}

/** The files of a bundle that have times in them. */
export interface TimedFiles {
  readonly events: FileText;
  readonly actions: FileText;
  readonly probes: FileText;
  readonly egress: FileText;
  /** The console, to say what stood there when its growth was measured. */
  readonly serial: FileText;
}

type Observation = Omit<TimelineEntry, 'untilMs' | 'count' | 'isDeciding'> & {
  /** Observations with the same key next to each other are shown as one. */
  readonly mergeKey: string | null;
};

/** Everything that was observed of an incarnation, in order of time. Lines that cannot be read are left out. */
export function buildTimeline(files: TimedFiles, deciding: VerdictView['deciding']): TimelineEntry[] {
  const serialLines = linesOf(files.serial.text, files.serial.startOffset);
  const read = (
    file: string,
    { text, startOffset }: FileText,
    observe: (value: Readonly<Record<string, unknown>>) => Observation | null,
  ): (Observation & { readonly isDeciding: boolean })[] => {
    const places = deciding.filter((citation) => citation.file === file);
    return linesOf(text, startOffset).flatMap((line) => {
      const value = objectOf(line);
      const observation = value === null ? null : observe(value);
      return observation === null ? [] : [{ ...observation, isDeciding: isCited(line, places) }];
    });
  };
  const observations = [
    ...read('actions.jsonl', files.actions, observeAction),
    ...read('events.jsonl', files.events, observeEvent),
    ...read('egress.jsonl', files.egress, observeEgress),
    ...read('probes.jsonl', files.probes, (value) => observeProbe(value, serialLines)),
  ];
  return merge(observations.sort((a, b) => a.atMs - b.atMs));
}

function merge(observations: readonly (Observation & { readonly isDeciding: boolean })[]): TimelineEntry[] {
  const entries: (TimelineEntry & { readonly mergeKey: string | null })[] = [];
  for (const observation of observations) {
    const last = entries.at(-1);
    const isSame = last !== undefined && observation.mergeKey !== null && last.mergeKey === observation.mergeKey;
    if (isSame && !observation.isDeciding && !last.isDeciding) {
      entries[entries.length - 1] = {
        ...last,
        untilMs: observation.atMs,
        count: last.count + 1,
        detail: observation.detail,
      };
    } else entries.push({ ...observation, untilMs: observation.atMs, count: 1 });
  }
  return entries.map(({ mergeKey: _, ...entry }) => entry);
}

function observeAction(value: Readonly<Record<string, unknown>>): Observation | null {
  const action = decodeAction(value);
  if (action === null) return null;
  const { atMs, action: name, by, reason } = action;
  return {
    atMs,
    source: 'host',
    title: `${words(name)} asked for by ${by}`,
    detail: reason,
    tone: 'quiet',
    mergeKey: null,
  };
}

/** Events that end or stop a machine, and those that tell of a failure. */
const EVENT_TONE: Readonly<Record<string, Tone>> = {
  SHUTDOWN: 'warn',
  RESET: 'warn',
  STOP: 'warn',
  GUEST_PANICKED: 'bad',
  GUEST_CRASHLOADED: 'bad',
  WATCHDOG: 'bad',
  BLOCK_IO_ERROR: 'bad',
  MEMORY_FAILURE: 'bad',
};

function observeEvent(value: Readonly<Record<string, unknown>>): Observation | null {
  const { event, timestamp, data } = value;
  const { seconds, microseconds } = (timestamp ?? {}) as {
    readonly seconds?: unknown;
    readonly microseconds?: unknown;
  };
  if (typeof event !== 'string' || typeof seconds !== 'number' || typeof microseconds !== 'number') return null;
  return {
    atMs: seconds * 1000 + microseconds / 1000,
    source: 'monitor',
    title: event,
    detail: describeData(data),
    tone: EVENT_TONE[event] ?? 'quiet',
    mergeKey: `event ${event}`,
  };
}

const describeData = (data: unknown): string =>
  typeof data === 'object' && data !== null
    ? Object.entries(data)
        .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join(', ')
    : '';

/** A connection that the guest wanted, or the count of those that were too many to be recorded. */
function observeEgress(value: Readonly<Record<string, unknown>>): Observation | null {
  const { atMs, verdict, host, port, message, leftOut } = value;
  if (typeof atMs !== 'number') return null;
  if (typeof leftOut === 'number') {
    const title = count(leftOut, 'connection was', 'connections were');
    return { atMs, source: 'network', title: `${title} not recorded`, detail: '', tone: 'warn', mergeKey: null };
  }
  if (typeof verdict !== 'string') return null;
  const wanted = typeof host === 'string' ? `${host}${typeof port === 'number' ? `:${port}` : ''}` : 'a connection';
  return {
    atMs,
    source: 'network',
    title: `${words(verdict)}: ${wanted}`,
    detail: typeof message === 'string' ? message : '',
    tone: verdict === 'allowed' ? 'quiet' : 'warn',
    mergeKey: `egress ${verdict} ${wanted}`,
  };
}

function observeProbe(
  value: Readonly<Record<string, unknown>>,
  serialLines: readonly EvidenceLine[],
): Observation | null {
  const probe = decodeProbe(value);
  return probe === null ? null : { atMs: probe.atMs, source: 'probe', ...describeProbe(probe, serialLines) };
}

function describeProbe(
  probe: ProbeRecord,
  serialLines: readonly EvidenceLine[],
): Pick<Observation, 'title' | 'detail' | 'tone' | 'mergeKey'> {
  switch (probe.kind) {
    case 'ping':
      return probe.ok
        ? { title: 'guest agent answered', detail: `in ${duration(probe.latencyMs)}`, tone: 'good', mergeKey: 'ping' }
        : {
            title: 'guest agent did not answer',
            detail: `within ${duration(probe.deadlineMs)}`,
            tone: 'warn',
            mergeKey: 'no ping',
          };
    case 'serial':
      return {
        title: `console had ${size(probe.totalBytes)}`,
        detail: lastLineBefore(probe.totalBytes, serialLines),
        tone: 'quiet',
        mergeKey: `serial ${probe.totalBytes}`,
      };
    case 'agent':
      return {
        title: probe.initStopping ? 'guest agent: init stops the system' : 'guest agent: the system runs',
        detail: `root file system is mounted ${probe.rootReadonly ? 'read-only' : 'writable'}`,
        tone: probe.initStopping ? 'warn' : 'good',
        mergeKey: null,
      };
    case 'status':
      return {
        title: probe.status === null ? 'monitor did not answer' : `monitor says ${words(probe.status)}`,
        detail: '',
        tone: probe.status === null ? 'bad' : 'quiet',
        mergeKey: `status ${probe.status}`,
      };
    case 'link':
      return { title: `guest link ${probe.open ? 'opened' : 'closed'}`, detail: '', tone: 'quiet', mergeKey: null };
    case 'host':
      return { title: `host: ${words(probe.fact)}`, detail: probe.detail, tone: 'bad', mergeKey: null };
  }
}

/** What the guest had last written when its console had so many bytes. */
function lastLineBefore(totalBytes: number, lines: readonly EvidenceLine[]): string {
  const line = lines.findLast(({ offset, text }) => offset < totalBytes && text.trim() !== '');
  return line === undefined ? '' : `last line: ${line.text.trim()}`;
}

/** How many entries of each source there are, in words. */
export function summarizeTimeline(entries: readonly TimelineEntry[]): string {
  const of = (source: TimelineSource): number =>
    entries.filter((entry) => entry.source === source).reduce((sum, entry) => sum + entry.count, 0);
  const network = of('network');
  return [
    count(of('host'), 'host action'),
    count(of('probe'), 'probe'),
    count(of('monitor'), 'event of the monitor', 'events of the monitor'),
    ...(network === 0 ? [] : [count(network, 'record of the network', 'records of the network')]),
  ].join(', ');
}
