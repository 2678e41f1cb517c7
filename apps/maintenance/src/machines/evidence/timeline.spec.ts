import { encodeAction, encodeProbe } from '@inquest/verdict-engine';
import { buildTimeline, summarizeTimeline, type TimedFiles } from './timeline';

const file = (...lines: readonly string[]) => ({
  text: lines.map((line) => `${line.trimEnd()}\n`).join(''),
  startOffset: 0,
});
const files = (overrides: Partial<TimedFiles> = {}): TimedFiles => ({
  events: file(),
  actions: file(),
  probes: file(),
  egress: file(),
  serial: file(),
  ...overrides,
});
const event = (atMs: number, name: string, data?: object): string =>
  JSON.stringify({
    timestamp: { seconds: Math.floor(atMs / 1000), microseconds: (atMs % 1000) * 1000 },
    event: name,
    ...(data ? { data } : {}),
  });
const ping = (atMs: number, ok: boolean): string =>
  encodeProbe({ atMs, kind: 'ping', ok, latencyMs: 4, deadlineMs: 2000 });

describe('buildTimeline', () => {
  it('puts host actions, probes and events of the monitor on one time line', () => {
    const entries = buildTimeline(
      files({
        actions: file(encodeAction({ atMs: 1000, action: 'start', by: 'ses-1', reason: 'session' })),
        probes: file(ping(3000, true)),
        events: file(event(2000, 'RESUME'), event(4000, 'SHUTDOWN', { guest: true, reason: 'guest-shutdown' })),
      }),
      [],
    );
    expect(entries.map(({ atMs, source, title }) => [atMs, source, title])).toEqual([
      [1000, 'host', 'start asked for by ses-1'],
      [2000, 'monitor', 'RESUME'],
      [3000, 'probe', 'guest agent answered'],
      [4000, 'monitor', 'SHUTDOWN'],
    ]);
    expect(entries[3]?.detail).toBe('guest: true, reason: guest-shutdown');
    expect(summarizeTimeline(entries)).toBe('1 host action, 1 probe, 2 events of the monitor');
  });

  it('shows what was typed, clicked and run on the machine from the host, each by itself', () => {
    const typed = encodeAction({ atMs: 1000, action: 'type_text', by: 'gateway', reason: '7 characters' });
    const run = encodeAction({ atMs: 2000, action: 'exec_serial', by: 'gateway', reason: '4 bytes, sha256 ab' });
    const entries = buildTimeline(files({ actions: file(typed, typed, run) }), []);
    expect(entries.map(({ title, detail }) => [title, detail])).toEqual([
      ['type text asked for by gateway', '7 characters'],
      ['type text asked for by gateway', '7 characters'],
      ['exec serial asked for by gateway', '4 bytes, sha256 ab'],
    ]);
  });

  it('shows equal observations in a row as one that says how often, but keeps a change apart', () => {
    const probes = file(ping(1000, true), ping(2000, true), ping(3000, false), ping(4000, true));
    const entries = buildTimeline(files({ probes }), []);
    expect(entries.map(({ title, count, untilMs }) => [title, count, untilMs])).toEqual([
      ['guest agent answered', 2, 2000],
      ['guest agent did not answer', 1, 3000],
      ['guest agent answered', 1, 4000],
    ]);
  });

  it('marks what decided the verdict, and never merges it away', () => {
    const first = event(1000, 'RESET');
    const events = file(first, event(2000, 'RESET'));
    const citation = { file: 'events.jsonl', offset: first.length + 1, length: 10, quote: '' };
    const entries = buildTimeline(files({ events }), [citation, { ...citation, file: 'serial.log', offset: 0 }]);
    expect(entries.map(({ isDeciding, count }) => [isDeciding, count])).toEqual([
      [false, 1],
      [true, 1],
    ]);
  });

  it('says what the guest had last written when its console was measured', () => {
    const serial = file('Linux version 6.1', 'login:');
    const probes = file(encodeProbe({ atMs: 1, kind: 'serial', totalBytes: 18 }));
    expect(buildTimeline(files({ serial, probes }), [])[0]?.detail).toBe('last line: Linux version 6.1');
  });

  it('shows what the guest wanted of the network, and how many such records are missing', () => {
    const record = { atMs: 1000, verdict: 'refused', host: 'example.org', port: 443, message: 'not on the list' };
    const egress = file(
      ...[record, { ...record, atMs: 2000 }, { atMs: 3000, leftOut: 7 }].map((line) => JSON.stringify(line)),
    );
    const entries = buildTimeline(files({ egress }), []);
    expect(entries.map(({ title, count, tone }) => [title, count, tone])).toEqual([
      ['refused: example.org:443', 2, 'warn'],
      ['7 connections were not recorded', 1, 'warn'],
    ]);
    expect(summarizeTimeline(entries)).toContain('3 records of the network');
  });

  it('leaves out lines that cannot be read', () => {
    const broken = [
      '{"atMs":1,',
      '{"event":"SHUTDOWN"}',
      '{"atMs":1,"kind":"unheard of"}',
      '{"atMs":"1","action":"start"}',
    ];
    const entries = buildTimeline(
      files({ events: file(...broken), probes: file(...broken), actions: file(...broken) }),
      [],
    );
    expect(entries).toEqual([]);
  });
});
