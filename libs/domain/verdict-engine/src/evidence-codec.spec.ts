import { drawVerdict } from './draw-verdict';
import {
  decodeAction,
  decodeMeta,
  decodeProbe,
  encodeAction,
  encodeMeta,
  encodeProbe,
  parseEvidence,
} from './evidence-codec';
import type { ActionRecord, ProbeRecord } from './evidence';
import { citeMeta } from './facts/host-facts';
import { parseObject } from './json-lines';
import { bootedGuest, bytesOf } from './testing/evidence-builder';
import { encodeVerdict } from './verdict';

const PROBES: readonly ProbeRecord[] = [
  { atMs: 1, kind: 'ping', ok: false, latencyMs: 1000, deadlineMs: 1000 },
  { atMs: 2, kind: 'serial', totalBytes: 77 },
  { atMs: 3, kind: 'agent', initStopping: true, rootReadonly: false },
  { atMs: 4, kind: 'status', status: null },
  { atMs: 5, kind: 'status', status: 'running' },
  { atMs: 6, kind: 'link', open: false },
  { atMs: 7, kind: 'host', fact: 'oom_kill', detail: 'oom_kill 1' },
];

const lineOf = (text: string) => {
  expect(text.endsWith('\n')).toBe(true);
  const value = parseObject(text);
  if (value === null) throw new Error(`no object: ${text}`);
  return value;
};

describe('lines of the recorder', () => {
  it.each(PROBES)('a probe of kind $kind is read as it was written', (probe) => {
    expect(decodeProbe(lineOf(encodeProbe(probe)))).toEqual(probe);
  });

  it('an action is read as it was written', () => {
    const action: ActionRecord = { atMs: 9, action: 'destroy', by: 'session s1', reason: 'idle' };
    expect(decodeAction(lineOf(encodeAction(action)))).toEqual(action);
  });

  it.each([
    { atMs: 1, kind: 'ping', ok: 'yes', latencyMs: 1, deadlineMs: 1 },
    { atMs: '1', kind: 'serial', totalBytes: 1 },
    { atMs: 1, kind: 'status' },
    { atMs: 1, kind: 'host', fact: 'fire', detail: '' },
    { atMs: 1, kind: 'weather' },
  ])('no probe is read from %j', (value) => {
    expect(decodeProbe(value)).toBeNull();
  });

  it.each([{ atMs: 1, action: 'explode', by: '', reason: '' }, { atMs: 1, action: 'quit', by: 7, reason: '' }, {}])(
    'no action is read from %j',
    (value) => {
      expect(decodeAction(value)).toBeNull();
    },
  );
});

describe('an evidence bundle', () => {
  it('gives the same verdict as the evidence it was written from', () => {
    const evidence = bootedGuest()
      .ping(9000, false)
      .action(9500, 'kill', 'vm-service', 'hung')
      .exit(9600, null, 'SIGKILL')
      .build();
    const bundle = {
      'meta.json': bytesOf(encodeMeta(evidence.meta)),
      'events.jsonl': evidence.events,
      'serial.log': evidence.serialHead,
      'actions.jsonl': evidence.actions,
      'probes.jsonl': evidence.probes,
    };
    expect(encodeVerdict(drawVerdict(parseEvidence(bundle)))).toBe(encodeVerdict(drawVerdict(evidence)));
  });

  it('without meta.json is refused', () => {
    expect(() => parseEvidence({ 'events.jsonl': bytesOf('') })).toThrow(
      expect.objectContaining({ code: 'EVIDENCE_META_MISSING' }),
    );
  });

  it('of another format is refused and says which', () => {
    expect(() => decodeMeta(bytesOf('{"formatVersion":2}'))).toThrow(
      expect.objectContaining({ code: 'EVIDENCE_FORMAT_UNSUPPORTED', message: expect.stringContaining('2') as string }),
    );
  });

  it.each(['machineId', 'incarnation', 'driver', 'startedAtMs', 'exit', 'serial', 'recorder'])(
    'without %s is refused and says so',
    (property) => {
      const meta: Record<string, unknown> = { ...bootedGuest().build().meta };
      delete meta[property];
      expect(() => decodeMeta(bytesOf(JSON.stringify(meta)))).toThrow(
        expect.objectContaining({
          code: 'EVIDENCE_META_INVALID',
          message: expect.stringContaining(property) as string,
        }),
      );
    },
  );

  it('is cited at the bytes of meta.json', () => {
    const evidence = bootedGuest().exit(9600, null, 'SIGKILL', 'déjà "vu"').build();
    const { offset, length } = citeMeta(evidence, 'stderrTail');
    const bytes = bytesOf(encodeMeta(evidence.meta));
    expect(new TextDecoder().decode(bytes.subarray(offset, offset + length))).toBe('"stderrTail":"déjà \\"vu\\""');
  });
});
