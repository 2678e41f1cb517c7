import { BUNDLE_FILES } from './bundle-files';
import { canonicalJson } from './canonical-json';
import { evidenceError } from './errors';
import {
  EVIDENCE_DRIVERS,
  EVIDENCE_ORIGINS,
  HOST_ACTIONS,
  HOST_FACTS,
  type ActionRecord,
  type Evidence,
  type EvidenceMeta,
  type ProbeRecord,
  type VmmExit,
} from './evidence';
import { isObject, parseObject } from './json-lines';

/** The bytes of a bundle's files by name, as read from disk. A file that does not exist is left out. */
export type BundleContent = Readonly<Partial<Record<(typeof BUNDLE_FILES)[keyof typeof BUNDLE_FILES], Uint8Array>>>;

const EMPTY = new Uint8Array(0);

/**
 * Evidence from the files of a bundle. A missing file other than `meta.json` counts as empty; `verdict.json` is ignored.
 * Lines are not looked at here: `drawVerdict` skips and counts the bad ones.
 * @throws EVIDENCE_META_MISSING, EVIDENCE_META_INVALID, EVIDENCE_FORMAT_UNSUPPORTED
 */
export function parseEvidence(files: BundleContent): Evidence {
  const meta = files[BUNDLE_FILES.meta];
  if (meta === undefined) throw evidenceError('EVIDENCE_META_MISSING', 'the evidence bundle has no meta.json');
  return {
    meta: decodeMeta(meta),
    events: files[BUNDLE_FILES.events] ?? EMPTY,
    serialHead: files[BUNDLE_FILES.serialHead] ?? EMPTY,
    serialTail: files[BUNDLE_FILES.serialTail] ?? EMPTY,
    actions: files[BUNDLE_FILES.actions] ?? EMPTY,
    probes: files[BUNDLE_FILES.probes] ?? EMPTY,
  };
}

/** The text of `meta.json`, newline included. Citations of `meta.json` hold for exactly this text. */
export function encodeMeta(meta: EvidenceMeta): string {
  return `${canonicalJson(meta)}\n`;
}

/**
 * Reads `meta.json`.
 * @throws EVIDENCE_META_INVALID naming the first property that is wrong, EVIDENCE_FORMAT_UNSUPPORTED
 */
export function decodeMeta(bytes: Uint8Array): EvidenceMeta {
  const value = parseObject(new TextDecoder().decode(bytes));
  if (value === null) throw evidenceError('EVIDENCE_META_INVALID', 'meta.json is not a JSON object');
  if (value['formatVersion'] !== 1) {
    const found = JSON.stringify(value['formatVersion'] ?? null);
    throw evidenceError('EVIDENCE_FORMAT_UNSUPPORTED', `meta.json has formatVersion ${found}, known is 1`);
  }
  return {
    formatVersion: 1,
    machineId: metaString(value, 'machineId'),
    incarnation: metaNumber(value, 'incarnation'),
    driver: metaOneOf(value, 'driver', EVIDENCE_DRIVERS),
    ...(value['origin'] === undefined ? {} : { origin: metaOneOf(value, 'origin', EVIDENCE_ORIGINS) }),
    startedAtMs: metaNumber(value, 'startedAtMs'),
    observedAtMs: metaNumber(value, 'observedAtMs'),
    exit: decodeExit(value['exit']),
    stderrTail: metaString(value, 'stderrTail'),
    serial: decodeSerial(value['serial']),
    recorder: decodeRecorder(value['recorder']),
  };
}

/** One line of `actions.jsonl`, newline included. */
export function encodeAction(action: ActionRecord): string {
  return `${canonicalJson(action)}\n`;
}

/** One line of `probes.jsonl`, newline included. */
export function encodeProbe(probe: ProbeRecord): string {
  return `${canonicalJson(probe)}\n`;
}

/** The action that a line of `actions.jsonl` records; null when it is none. Unknown properties are ignored. */
export function decodeAction(value: Readonly<Record<string, unknown>>): ActionRecord | null {
  const { atMs, action, by, reason } = value;
  if (!isFiniteNumber(atMs) || !isOneOf(action, HOST_ACTIONS)) return null;
  if (typeof by !== 'string' || typeof reason !== 'string') return null;
  return { atMs, action, by, reason };
}

/** The probe that a line of `probes.jsonl` records; null when it is none. Unknown properties are ignored. */
export function decodeProbe(value: Readonly<Record<string, unknown>>): ProbeRecord | null {
  const { atMs, kind } = value;
  if (!isFiniteNumber(atMs)) return null;
  switch (kind) {
    case 'ping': {
      const { ok, latencyMs, deadlineMs } = value;
      if (typeof ok !== 'boolean' || !isFiniteNumber(latencyMs) || !isFiniteNumber(deadlineMs)) return null;
      return { atMs, kind, ok, latencyMs, deadlineMs };
    }
    case 'serial': {
      const { totalBytes } = value;
      return isFiniteNumber(totalBytes) ? { atMs, kind, totalBytes } : null;
    }
    case 'agent': {
      const { initStopping, rootReadonly } = value;
      if (typeof initStopping !== 'boolean' || typeof rootReadonly !== 'boolean') return null;
      return { atMs, kind, initStopping, rootReadonly };
    }
    case 'status': {
      const { status } = value;
      return status === null || typeof status === 'string' ? { atMs, kind, status } : null;
    }
    case 'link': {
      const { open } = value;
      return typeof open === 'boolean' ? { atMs, kind, open } : null;
    }
    case 'host': {
      const { fact, detail } = value;
      return isOneOf(fact, HOST_FACTS) && typeof detail === 'string' ? { atMs, kind, fact, detail } : null;
    }
    default:
      return null;
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

const isFiniteNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

const isOneOf = <T extends string>(value: unknown, allowed: readonly T[]): value is T =>
  allowed.some((item) => item === value);

const invalidMeta = (name: string) =>
  evidenceError('EVIDENCE_META_INVALID', `meta.json has no valid "${name}"`, { property: name });

function decodeExit(value: unknown): VmmExit | null {
  if (value === null) return null;
  if (!isObject(value)) throw invalidMeta('exit');
  const { code, signal } = value;
  if (code !== null && !isFiniteNumber(code)) throw invalidMeta('exit.code');
  if (signal !== null && typeof signal !== 'string') throw invalidMeta('exit.signal');
  return { code, signal, atMs: metaNumber(value, 'atMs') };
}

function decodeSerial(value: unknown): EvidenceMeta['serial'] {
  if (!isObject(value)) throw invalidMeta('serial');
  return { totalBytes: metaNumber(value, 'totalBytes'), droppedBytes: metaNumber(value, 'droppedBytes') };
}

function decodeRecorder(value: unknown): EvidenceMeta['recorder'] {
  if (!isObject(value)) throw invalidMeta('recorder');
  const { attachedBeforeBoot, lost, note } = value;
  if (typeof attachedBeforeBoot !== 'boolean') throw invalidMeta('recorder.attachedBeforeBoot');
  if (typeof lost !== 'boolean') throw invalidMeta('recorder.lost');
  if (note !== null && typeof note !== 'string') throw invalidMeta('recorder.note');
  return { attachedBeforeBoot, lost, note };
}

function metaString(value: JsonObject, name: string): string {
  const item = value[name];
  if (typeof item !== 'string') throw invalidMeta(name);
  return item;
}

function metaNumber(value: JsonObject, name: string): number {
  const item = value[name];
  if (!isFiniteNumber(item)) throw invalidMeta(name);
  return item;
}

function metaOneOf<T extends string>(value: JsonObject, name: string, allowed: readonly T[]): T {
  const item = value[name];
  if (!isOneOf(item, allowed)) throw invalidMeta(name);
  return item;
}
