import { BUNDLE_FILES, type EvidenceFile } from '../bundle-files';
import { canonicalJson } from '../canonical-json';
import { printable, type Citation } from '../citation';
import type { ActionRecord, Evidence, ProbeOf, ProbeRecord } from '../evidence';
import { decodeAction, decodeProbe, encodeMeta } from '../evidence-codec';
import { readJsonLines, type JsonLine } from '../json-lines';

/** A record of the host with the place it stands at. */
export type Cited<T> = T & { readonly citation: Citation };

/** Records of one file in order of time. */
export interface HostRecords<T> {
  readonly records: readonly Cited<T>[];
  /** Lines that are no record. */
  readonly skipped: number;
}

/** What the host was asked to do to this incarnation, in order of time. */
export function actionFacts(evidence: Evidence): HostRecords<ActionRecord> {
  return readRecords(evidence, evidence.actions, BUNDLE_FILES.actions, decodeAction);
}

/** What the host saw of this incarnation, in order of time. */
export function probeFacts(evidence: Evidence): HostRecords<ProbeRecord> {
  return readRecords(evidence, evidence.probes, BUNDLE_FILES.probes, decodeProbe);
}

/** The probes of one kind. */
export function probesOf<Kind extends ProbeRecord['kind']>(
  probes: HostRecords<ProbeRecord>,
  kind: Kind,
): readonly Cited<ProbeOf<Kind>>[] {
  return probes.records.filter((probe): probe is Cited<ProbeOf<Kind>> => probe.kind === kind);
}

/** Citation of one property of `meta.json`, at its place in `encodeMeta`'s text. */
export function citeMeta(evidence: Evidence, property: 'exit' | 'stderrTail' | 'recorder'): Citation {
  const encoder = new TextEncoder();
  const member = `"${property}":${canonicalJson(evidence.meta[property])}`;
  const text = encodeMeta(evidence.meta);
  const before = text.slice(0, Math.max(0, text.indexOf(member)));
  return {
    file: BUNDLE_FILES.meta,
    offset: encoder.encode(before).length,
    length: encoder.encode(member).length,
    quote: printable(member),
  };
}

function readRecords<T extends { readonly atMs: number }>(
  evidence: Evidence,
  bytes: Uint8Array,
  file: EvidenceFile,
  decode: (value: JsonLine['value']) => T | null,
): HostRecords<T> {
  const { lines, skipped } = readJsonLines(bytes);
  const records: Cited<T>[] = [];
  let malformed = 0;
  for (const { value, text, offset, length } of lines) {
    const record = decode(value);
    if (record === null) malformed++;
    else if (record.atMs >= evidence.meta.startedAtMs)
      records.push({ ...record, citation: { file, offset, length, quote: printable(text) } });
  }
  records.sort((a, b) => a.atMs - b.atMs);
  return { records, skipped: skipped + malformed };
}
