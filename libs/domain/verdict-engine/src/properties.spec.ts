import fc from 'fast-check';
import { drawVerdict } from './draw-verdict';
import { EVIDENCE_DRIVERS, type Evidence } from './evidence';
import { decodeMeta, encodeMeta, parseEvidence } from './evidence-codec';
import { hasCode } from '@inquest/kernel';
import { bootedGuest, bytesOf, latin1 } from './testing/evidence-builder';
import { CONFIDENCES, encodeVerdict, MAX_CITATIONS, VERDICT_CLASSES, type Verdict } from './verdict';
import { classifyConsole } from './console/classify-console';

/** Bytes that look enough like evidence to reach deep into the readers. */
const FRAGMENTS = [
  '\n',
  '\r\n',
  '\x1b[31m',
  '\x1b]0;',
  '[   12.345678] ',
  '[    0.000000] Linux version 6.1.0\n',
  'Kernel panic - not syncing: x',
  'reboot: Power down\n',
  'BUG: KASAN: use-after-free in f+0x1/0x2',
  '{"timestamp":{"seconds":1800000020,"microseconds":0},"event":"SHUTDOWN","data":{"guest":true,"reason":"guest-shutdown"}}\n',
  '{"timestamp":{"seconds":1e999,"microseconds":0},"event":"RESET"}\n',
  '{"atMs":1800000009000,"kind":"ping","ok":false,"latencyMs":1000,"deadlineMs":1000}\n',
  '{"atMs":1800000009000,"kind":"status","status":null}\n',
  '{"atMs":1800000009000,"action":"destroy","by":"","reason":""}\n',
  '{"__proto__":{"event":"STOP"}}\n',
  '[[[[',
];
const hostileBytes = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc
    .array(fc.oneof(fc.constantFrom(...FRAGMENTS), fc.string({ maxLength: 12 })), { maxLength: 25 })
    .map((parts) => latin1(parts.join(''))),
);

const hostileEvidence: fc.Arbitrary<Evidence> = fc
  .record({
    driver: fc.constantFrom(...EVIDENCE_DRIVERS),
    exit: fc.option(
      fc.record({
        code: fc.option(fc.integer()),
        signal: fc.option(fc.constantFrom('SIGKILL', 'SIGSEGV', 'SIG?')),
        atMs: fc.integer(),
      }),
    ),
    stderrTail: fc.string(),
    droppedBytes: fc.integer({ min: -5, max: 5000 }),
    lost: fc.boolean(),
    events: hostileBytes,
    serialHead: hostileBytes,
    serialTail: hostileBytes,
    actions: hostileBytes,
    probes: hostileBytes,
  })
  .map(({ driver, exit, stderrTail, droppedBytes, lost, ...files }) => {
    const base = bootedGuest().build().meta;
    const serial = { totalBytes: files.serialHead.length + files.serialTail.length, droppedBytes };
    const recorder = { ...base.recorder, lost };
    return { meta: { ...base, driver, exit, stderrTail, serial, recorder }, ...files };
  });

/** A clean power-off with everything it takes. */
const cleanPoweroff = (): Evidence =>
  bootedGuest()
    .serial(
      '[   20.100000] systemd-shutdown[1]: Syncing filesystems and block devices.',
      '[   20.300000] systemd-shutdown[1]: Powering off.',
      '[   20.671107] reboot: Power down',
    )
    .event(20_700, 'SHUTDOWN', { guest: true, reason: 'guest-shutdown' })
    .exit(20_750, 0)
    .build();

const panicked = (): Evidence =>
  bootedGuest()
    .serial('[   10.000000] Kernel panic - not syncing: Fatal exception', '[   10.500000] Rebooting in 1 seconds..')
    .event(11_700, 'SHUTDOWN', { guest: true, reason: 'guest-reset' })
    .exit(11_750, 0)
    .build();

const quotes = (verdict: Verdict): readonly string[] => verdict.deciding.map(({ quote }) => quote);

describe('drawVerdict', () => {
  it('gives a well-formed verdict for any bytes whatever', () => {
    fc.assert(
      fc.property(hostileEvidence, (evidence) => {
        const verdict = drawVerdict(evidence);
        expect(VERDICT_CLASSES).toContain(verdict.class);
        expect(CONFIDENCES).toContain(verdict.confidence);
        expect(verdict.account).toMatch(/^[\x20-\x7e]{1,400}$/);
        expect(verdict.deciding.length).toBeLessThanOrEqual(MAX_CITATIONS);
        for (const { quote, offset, length } of [...verdict.deciding, ...verdict.contributing]) {
          expect(quote).toMatch(/^[\x20-\x7e]{0,200}$/);
          expect(offset).toBeGreaterThanOrEqual(0);
          expect(length).toBeGreaterThanOrEqual(0);
        }
        expect(encodeVerdict(drawVerdict(evidence))).toBe(encodeVerdict(verdict));
      }),
      { numRuns: 1000 },
    );
  });

  it.each([cleanPoweroff, panicked])('does not depend on the order in which events arrive', (make) => {
    const evidence = make();
    const lines = new TextDecoder().decode(evidence.events).split('\n').filter(Boolean);
    const expected = drawVerdict(evidence);
    fc.assert(
      fc.property(fc.shuffledSubarray(lines, { minLength: lines.length }), (shuffled) => {
        const verdict = drawVerdict({ ...evidence, events: bytesOf(`${shuffled.join('\n')}\n`) });
        expect(verdict).toMatchObject({
          class: expected.class,
          confidence: expected.confidence,
          account: expected.account,
        });
        expect(quotes(verdict)).toEqual(quotes(expected));
      }),
    );
  });

  it.each([cleanPoweroff, panicked])('reads the console through escape sequences and carriage returns', (make) => {
    const evidence = make();
    const expected = drawVerdict(evidence);
    const noise = fc.record({
      at: fc.nat({ max: evidence.serialHead.length }),
      bytes: fc.constantFrom('\r', '\x1b[0m', '\x1b[1;31m', '\x1b[K', '\x1b]0;title\x07', '\x00'),
    });
    fc.assert(
      fc.property(fc.array(noise, { maxLength: 20 }), (insertions) => {
        let text = new TextDecoder('latin1').decode(evidence.serialHead);
        // From the end, so that one insertion never lands inside another.
        for (const { at, bytes } of insertions.toSorted((a, b) => b.at - a.at))
          text = text.slice(0, at) + bytes + text.slice(at);
        const verdict = drawVerdict({ ...evidence, serialHead: latin1(text) });
        expect(verdict).toMatchObject({ class: expected.class, boots: expected.boots });
      }),
      { numRuns: 500 },
    );
  });

  it('does not depend on where the console was split into head and tail', () => {
    const evidence = cleanPoweroff();
    const expected = drawVerdict(evidence);
    for (let cut = 0; cut <= evidence.serialHead.length; cut++) {
      const serialHead = evidence.serialHead.slice(0, cut);
      const serialTail = evidence.serialHead.slice(cut);
      expect(drawVerdict({ ...evidence, serialHead, serialTail }).class).toBe(expected.class);
    }
  });

  it.each(['serialHead', 'events'] as const)(
    'never takes a cut %s for a clean power-off unless what decides is whole',
    (file) => {
      const evidence = cleanPoweroff();
      const whole = drawVerdict(evidence);
      expect(whole.class).toBe('clean_poweroff');
      let clean = 0;
      for (let end = 0; end < evidence[file].length; end++) {
        const verdict = drawVerdict({ ...evidence, [file]: evidence[file].slice(0, end) });
        if (verdict.class !== 'clean_poweroff') continue;
        clean++;
        expect(quotes(verdict)).toEqual(quotes(whole));
      }
      // Only the line end after the last deciding line may be missing.
      expect(clean).toBeLessThanOrEqual(2);
    },
  );

  it('never takes a console that lost its beginning for a clean power-off unless what decides is whole', () => {
    const evidence = cleanPoweroff();
    const whole = drawVerdict(evidence);
    for (let start = 1; start <= evidence.serialHead.length; start++) {
      const verdict = drawVerdict({ ...evidence, serialHead: evidence.serialHead.slice(start) });
      if (verdict.class === 'clean_poweroff') expect(quotes(verdict)[1]).toBe(quotes(whole)[1]);
    }
  });

  it('stays linear for a guest that prints the worst it can think of', () => {
    const evidence = bootedGuest().build();
    for (const text of [
      '[',
      '[    1.000000] BUG: x\n',
      '\x1b]',
      'reboot: Power down\n',
      '[    0.000000] Linux version 6\n[    1.000000] x\n',
    ]) {
      const serialHead = latin1(text.repeat(Math.ceil((1 << 20) / text.length)));
      const startedAtMs = performance.now();
      drawVerdict({ ...evidence, serialHead });
      expect(performance.now() - startedAtMs).toBeLessThan(10_000);
    }
  });
});

describe('classifyConsole', () => {
  it('never throws and always agrees with itself', () => {
    fc.assert(
      fc.property(hostileBytes, (bytes) => {
        const result = classifyConsole(bytes);
        expect(result.crashed).toBe(result.reports.some((report) => report.severity === 'crash'));
        expect(classifyConsole(bytes)).toEqual(result);
      }),
    );
  });
});

describe('parseEvidence', () => {
  it('gives back what encodeMeta wrote', () => {
    fc.assert(
      fc.property(hostileEvidence, ({ meta }) => {
        expect(decodeMeta(bytesOf(encodeMeta(meta)))).toEqual(meta);
      }),
    );
  });

  it('refuses any other meta.json with a code of its own', () => {
    fc.assert(
      fc.property(fc.oneof(hostileBytes, fc.json().map(bytesOf)), (bytes) => {
        let failure: unknown = null;
        try {
          parseEvidence({ 'meta.json': bytes });
        } catch (e) {
          failure = e;
        }
        expect(hasCode(failure, 'EVIDENCE_META_INVALID') || hasCode(failure, 'EVIDENCE_FORMAT_UNSUPPORTED')).toBe(true);
      }),
    );
  });
});
