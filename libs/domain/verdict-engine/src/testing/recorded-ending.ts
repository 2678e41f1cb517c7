import type { ActionRecord, Evidence, EvidenceMeta, ProbeRecord, VmmExit } from '../evidence';
import { encodeAction, encodeProbe } from '../evidence-codec';
import { isObject, parseObject } from '../json-lines';

/** The files of one recorded ending: real guests under QEMU 7.2, each with one deliberate action. */
export interface RecordedEnding {
  readonly name: string;
  readonly events: Uint8Array;
  readonly serial: Uint8Array;
  /** Who did what, how QEMU exited, what it and the agent said at the end. */
  readonly recorded: Uint8Array;
}

/** Time of the first event in recordings that have none, in ms since the Unix epoch. */
const NO_EVENT_EPOCH_MS = 1_796_040_000_000;
/** How long before its first event QEMU was started: it reports RESUME within 60 ms of its start. */
const START_LEAD_MS = 100;
/** Deadline of the recorder's last ping of the agent. */
const PING_DEADLINE_MS = 1000;

/** What the host itself did in a recording, and when, in ms after the action that the recording is about. */
const HOST_ACTIONS_OF: Readonly<Record<string, readonly { action: ActionRecord['action']; atMs: number }[]>> = {
  'qmp-quit': [{ action: 'quit', atMs: -1 }],
  'qmp-reset-allowed': [{ action: 'reset', atMs: 0 }],
  'qmp-reset-noreboot': [{ action: 'reset', atMs: -1 }],
  'qmp-stop-paused': [{ action: 'pause', atMs: 0 }],
  'qmp-powerdown-acted': [{ action: 'shutdown', atMs: 0 }],
  'qmp-powerdown-ignored': [{ action: 'shutdown', atMs: 0 }],
  'deb-qmp-powerdown': [{ action: 'shutdown', atMs: -1 }],
  'enospc-werror-stop': [{ action: 'resume', atMs: 1170 }],
};

/** A recorded ending as evidence: its notes become probes, its deliberate host actions become records. */
export function evidenceOfRecordedEnding({ name, events, serial, recorded }: RecordedEnding): Evidence {
  const notes = parseObject(new TextDecoder().decode(recorded)) ?? {};
  const { firstEventMs, actionMs } = times(events);
  const exit = exitOf(notes, actionMs);
  const observedAtMs = exit?.atMs ?? actionMs + stillRunningAfterMs(notes['exit']);
  const meta: EvidenceMeta = {
    formatVersion: 1,
    machineId: name,
    incarnation: 1,
    driver: 'qemu',
    startedAtMs: firstEventMs - START_LEAD_MS,
    observedAtMs,
    exit,
    stderrTail: typeof notes['qemuStderr'] === 'string' ? notes['qemuStderr'] : '',
    serial: { totalBytes: serial.length, droppedBytes: 0 },
    recorder: { attachedBeforeBoot: true, lost: false, note: null },
  };
  const actions = (HOST_ACTIONS_OF[name] ?? []).map(({ action, atMs }) =>
    encodeAction({ atMs: actionMs + atMs, action, by: 'recorder', reason: 'the subject of this recording' }),
  );
  const probes = exit === null ? lastLook(notes, observedAtMs, serial.length).map(encodeProbe) : [];
  const encoder = new TextEncoder();
  return {
    meta,
    events,
    serialHead: serial,
    serialTail: new Uint8Array(0),
    actions: encoder.encode(actions.join('')),
    probes: encoder.encode(probes.join('')),
  };
}

/** What the recorder asked QEMU and the agent before it ended the recording. */
function lastLook(notes: Readonly<Record<string, unknown>>, atMs: number, totalBytes: number): readonly ProbeRecord[] {
  const { statusAtEnd, agentAtEnd } = notes;
  const status = typeof statusAtEnd === 'string' && !statusAtEnd.startsWith('QMP no answer') ? statusAtEnd : null;
  const ok = agentAtEnd === 'answers';
  const latencyMs = ok ? 5 : PING_DEADLINE_MS;
  return [
    { atMs: atMs - latencyMs, kind: 'serial', totalBytes },
    { atMs, kind: 'ping', ok, latencyMs, deadlineMs: PING_DEADLINE_MS },
    { atMs, kind: 'status', status },
  ];
}

function times(events: Uint8Array): { readonly firstEventMs: number; readonly actionMs: number } {
  const first = parseObject(new TextDecoder().decode(events).split('\n', 1)[0] ?? '');
  const timestamp = first?.['timestamp'];
  const afterAction = first?.['ms_after_action'];
  if (!isObject(timestamp) || typeof timestamp['seconds'] !== 'number' || typeof afterAction !== 'number')
    return { firstEventMs: NO_EVENT_EPOCH_MS, actionMs: NO_EVENT_EPOCH_MS };
  const firstEventMs = timestamp['seconds'] * 1000 + Number(timestamp['microseconds']) / 1000;
  return { firstEventMs, actionMs: firstEventMs - afterAction };
}

function exitOf(notes: Readonly<Record<string, unknown>>, actionMs: number): VmmExit | null {
  const { exit, error } = notes;
  if (isObject(exit)) return vmmExit(exit, actionMs + Number(exit['afterActionMs']));
  // A QEMU that never started is recorded as text that ends in its exit: `... {"code":1,"signal":null,"ms":23}`.
  const failed = typeof error === 'string' ? parseObject(error.slice(error.lastIndexOf('{'))) : null;
  return failed === null ? null : vmmExit(failed, actionMs + Number(failed['ms']));
}

const vmmExit = ({ code, signal }: Readonly<Record<string, unknown>>, atMs: number): VmmExit => ({
  code: typeof code === 'number' ? code : null,
  signal: typeof signal === 'string' ? signal : null,
  atMs,
});

/** "still running after 3000 ms" */
const stillRunningAfterMs = (text: unknown): number => Number(/after (\d+) ms/.exec(String(text))?.[1] ?? 0);
