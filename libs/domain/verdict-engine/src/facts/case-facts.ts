import type { ActionRecord, Evidence, ProbeOf, ProbeRecord, VmmExit } from '../evidence';
import { actionFacts, probeFacts, probesOf, type Cited, type HostRecords } from './host-facts';
import { lastEvent, qmpFacts, type QmpEvent, type QmpFacts } from './qmp-facts';
import { serialFacts, type ConsoleMark, type ConsoleMarkKind, type SerialFacts } from './serial-facts';

/** `id` or `name` of the virtio-serial port that the guest agent holds open (docs/guest-protocol.md), and its older id. */
export const AGENT_PORT_IDS: readonly string[] = ['inquest.mux', 'port-agent'];

/** Everything the rules look at, extracted from the evidence once. */
export interface CaseFacts {
  readonly evidence: Evidence;
  /** null: the VMM process lives. */
  readonly exit: VmmExit | null;
  readonly qmp: QmpFacts;
  readonly serial: SerialFacts;
  readonly actions: HostRecords<ActionRecord>;
  readonly probes: HostRecords<ProbeRecord>;
  /** The last answered ping. */
  readonly lastPong: Cited<ProbeOf<'ping'>> | null;
  /** The first ping after it that stayed unanswered until its deadline; never one sent while the guest was stopped. */
  readonly firstSilence: Cited<ProbeOf<'ping'>> | null;
  /** The last look at QMP query-status; null when the machine was stopped or let run since. */
  readonly status: Cited<ProbeOf<'status'>> | null;
  /** Bytes of the console that are known to be older than the last answered ping. */
  readonly outlivedBytes: number;
  /** The last SHUTDOWN event after which the guest was not let run again. */
  readonly shutdown: QmpEvent | null;
}

/** Extracts the facts. Near-linear in the size of the evidence; never throws. */
export function caseFacts(evidence: Evidence): CaseFacts {
  const qmp = qmpFacts(evidence);
  const probes = probeFacts(evidence);
  const pings = probesOf(probes, 'ping');
  const lastPong = pings.findLast((ping) => ping.ok) ?? null;
  const spokenUntilMs = lastPong?.atMs ?? -Infinity;
  // Probes count whole milliseconds, events fractions of them.
  const runningSinceMs = lastAtMs(qmp, ['RESUME', 'WAKEUP']);
  const runStateSinceMs = lastAtMs(qmp, ['RESUME', 'WAKEUP', 'STOP', 'SUSPEND']);
  const status = probesOf(probes, 'status').at(-1);
  return {
    evidence,
    exit: evidence.meta.exit,
    qmp,
    serial: serialFacts(evidence),
    actions: actionFacts(evidence),
    probes,
    lastPong,
    firstSilence:
      pings.find((ping) => !ping.ok && ping.atMs >= spokenUntilMs && sentMs(ping) >= runningSinceMs) ?? null,
    status: status !== undefined && status.atMs >= runStateSinceMs ? status : null,
    outlivedBytes: consoleBeforeLastAnswer(probes),
    shutdown: standingShutdown(qmp),
  };
}

const sentMs = (ping: ProbeOf<'ping'>): number => ping.atMs - ping.latencyMs;

const lastAtMs = (qmp: QmpFacts, names: readonly string[]): number =>
  Math.floor(qmp.events.findLast(({ name }) => names.includes(name))?.atMs ?? -Infinity);

/** SHUTDOWN is final unless QEMU stays (-no-shutdown) and somebody lets the guest run again. */
function standingShutdown(qmp: QmpFacts): QmpEvent | null {
  const shutdown = lastEvent(qmp, 'SHUTDOWN');
  if (shutdown === null) return null;
  return qmp.events.some(({ name, atMs }) => name === 'RESUME' && atMs > shutdown.atMs) ? null : shutdown;
}

/** The last mark of that kind that the current boot printed, or null. */
export function markOfLastBoot({ serial }: CaseFacts, kind: ConsoleMarkKind): ConsoleMark | null {
  return serial.marks.findLast((mark) => mark.kind === kind && mark.boot >= serial.boots) ?? null;
}

/**
 * True when the agent answered, in the same boot, a ping that was sent after the message was out. A kernel that said it
 * had stopped and then answers had its words put in its mouth: root may write anything to /dev/kmsg.
 */
export function outlived({ outlivedBytes, serial }: CaseFacts, mark: ConsoleMark): boolean {
  return mark.boot >= serial.boots && mark.streamEnd <= outlivedBytes;
}

/** Bytes known to have been on the console before the last answered ping was sent. */
function consoleBeforeLastAnswer(probes: HostRecords<ProbeRecord>): number {
  const sent = probesOf(probes, 'ping').map((ping) => (ping.ok ? sentMs(ping) : -Infinity));
  const lastSentMs = sent.reduce((latest, atMs) => Math.max(latest, atMs), -Infinity);
  const printed = probesOf(probes, 'serial').filter((probe) => probe.atMs <= lastSentMs);
  return printed.reduce((most, { totalBytes }) => Math.max(most, totalBytes), 0);
}

/** True when the agent answered a ping that was sent after `atMs`. */
export function answeredAfter(facts: CaseFacts, atMs: number): boolean {
  return facts.lastPong !== null && sentMs(facts.lastPong) >= atMs;
}

/** The last opening or closing of the agent's port, as the guest's kernel reported it to QEMU. */
export function agentPortChange({ qmp }: CaseFacts): QmpEvent | null {
  return lastEvent(qmp, 'VSERPORT_CHANGE', ({ data }) => AGENT_PORT_IDS.some((id) => id === data['id']));
}

/** Actions that end a VMM process, or replace its guest. */
const ENDING_ACTIONS: readonly ActionRecord['action'][] = ['quit', 'kill', 'destroy', 'reap', 'reset'];

/** An action explains an end that follows it within this time; a destroy polls for 2 s, on a loaded host for longer. */
const ACTION_EFFECT_MS = 30_000;

/** The last action that explains an end at `atMs`: actions are recorded before they are done. */
export function endingAction({ actions }: CaseFacts, atMs: number): Cited<ActionRecord> | null {
  const explains = (record: ActionRecord) =>
    ENDING_ACTIONS.includes(record.action) && record.atMs <= atMs && record.atMs >= atMs - ACTION_EFFECT_MS;
  return actions.records.findLast(explains) ?? null;
}
