import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { classifyConsole, ConsoleClassifier, type ConsoleClassification } from './classify-console';
import { readConsole } from './console-lines';
import { MAX_REPORTS } from './report-finder';
import { mayOpenReport, patternsFor, REPORT_PATTERNS } from './report-patterns';

const GOLDEN = join(__dirname, 'golden');
const names = readdirSync(GOLDEN)
  .filter((file) => file.endsWith('.log'))
  .map((file) => file.slice(0, -'.log'.length));

const readLog = (name: string): Uint8Array => new Uint8Array(readFileSync(join(GOLDEN, `${name}.log`)));
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

type Expected = Pick<ConsoleClassification, 'crashed' | 'class' | 'title' | 'truncated'> & {
  readonly titles: readonly string[];
};

function summary({ crashed, class: c, title, truncated, reports }: ConsoleClassification): Expected {
  return { crashed, class: c, title, truncated, titles: reports.map((report) => report.title) };
}

describe('golden console logs', () => {
  it.each(names)('%s is classified as expected', (name) => {
    const actual = summary(classifyConsole(readLog(name)));
    const file = join(GOLDEN, `${name}.json`);
    if (process.env['INQUEST_UPDATE_GOLDEN'] === '1') writeFileSync(file, `${JSON.stringify(actual, null, 2)}\n`);
    expect(actual).toEqual(JSON.parse(readFileSync(file, 'utf8')));
  });

  it.each(names.filter((name) => name.startsWith('ordinary-')))('%s has nothing to report', (name) => {
    expect(classifyConsole(readLog(name)).reports).toEqual([]);
  });
});

describe('the table of patterns', () => {
  const texts = names.flatMap((name) => readConsole(readLog(name)).kernelLines.map((line) => line.text));

  it.each(REPORT_PATTERNS.map((pattern) => [pattern.start.source, pattern] as const))(
    'has a golden log for %s',
    (_, pattern) => {
      expect(texts.find((text) => pattern.start.test(text))).toBeDefined();
    },
  );

  it('is never passed over by the two quick looks at a line', () => {
    for (const text of texts) {
      for (const pattern of REPORT_PATTERNS.filter(({ start }) => start.test(text))) {
        expect({ text, isLookedAt: mayOpenReport(text) && patternsFor(text).includes(pattern) }).toEqual({
          text,
          isLookedAt: true,
        });
      }
    }
  });
});

describe('classifyConsole', () => {
  it('points at the first byte of the report', () => {
    const log = '[    1.000000] fine\r\n[    2.000000] Kernel panic - not syncing: x\r\n';
    const { offset, reports } = classifyConsole(bytesOf(log));
    expect(offset).toBe(log.indexOf('[    2.000000]'));
    expect(log.slice(reports[0]?.offset, (reports[0]?.offset ?? 0) + (reports[0]?.length ?? 0))).toBe(
      '[    2.000000] Kernel panic - not syncing: x',
    );
  });

  it('takes a report that stops in the middle as truncated', () => {
    expect(classifyConsole(readLog('kernel-bug').slice(0, 300)).truncated).toBe(true);
    expect(classifyConsole(readLog('kernel-bug')).truncated).toBe(false);
  });

  it('takes a report whose call trace is not closed, or whose last line is not whole, as truncated', () => {
    const log = Buffer.from(readLog('soft-lockup-whole')).toString('latin1');
    const closed = log.indexOf('</TASK>');
    expect(classifyConsole(bytesOf(log)).truncated).toBe(false);
    expect(classifyConsole(bytesOf(log.slice(0, log.lastIndexOf('\n', closed) + 1))).truncated).toBe(true);
    expect(classifyConsole(bytesOf('BUG: Bad rss-counter state mm:00000000')).truncated).toBe(true);
  });

  it('ends a report with the panic that it led to', () => {
    const { reports } = classifyConsole(readLog('warning-panic-on-warn-old'));
    expect(reports.map(({ class: c, truncated }) => [c, truncated])).toEqual([
      ['warning', false],
      ['panic', false],
    ]);
  });

  it('gives the same for a log that comes byte by byte', () => {
    const log = readLog('two-cpus-by-caller');
    const classifier = new ConsoleClassifier();
    for (const byte of log) classifier.push(Uint8Array.of(byte));
    expect(classifier.finish()).toEqual(classifyConsole(log));
  });

  it('takes words that programs print, too, for a report only with a stack, where nothing is stamped', () => {
    expect(classifyConsole(bytesOf('BUG: out of cheese\nbye\n')).crashed).toBe(false);
    expect(classifyConsole(bytesOf('BUG: out of cheese\nCall Trace:\n mouse+0x1/0x2\n')).title).toBe(
      'BUG: out of cheese in mouse',
    );
    expect(classifyConsole(bytesOf('[    1.000000] BUG: out of cheese\n')).crashed).toBe(true);
  });

  it('finds the panic behind any number of disk errors and of programs that cry wolf', () => {
    const panic = 'Kernel panic - not syncing: last\n---[ end Kernel panic - not syncing: last ]---\n';
    const cries = 'BUG: wolf\n'.repeat(10 * MAX_REPORTS);
    const errors = 'I/O error, dev vda, sector 8\n'.repeat(10 * MAX_REPORTS);
    expect(classifyConsole(bytesOf(cries + errors + panic))).toMatchObject({
      class: 'panic',
      title: 'kernel panic: last',
      truncated: false,
    });
  });

  it('needs no more than a linear time for the bytes that cost most', () => {
    const hostile = [
      'B\n',
      'BUG: x\n',
      '[',
      '[    1.000000] ',
      'vmalloc: ',
      'BUG: KASAN: a ',
      '\x1b[\x1b]',
      'BUG: 1:1::1:1:1.1.1.1 ',
      'Read of size 1 by task a/1 ',
      'BUG: x\na/1 b/2 is trying to \n1 lock held by /1/2/3\n',
      'a login: <9>[    1.000000] ',
    ];
    for (const part of hostile) {
      const once = bytesOf(part.repeat(Math.ceil(250_000 / part.length)));
      const classifier = new ConsoleClassifier();
      for (let count = 0; count < 8; count++) classifier.push(once);
      expect(classifier.finish().reports.length).toBeLessThanOrEqual(MAX_REPORTS);
    }
  });

  it('finds a report behind a line of a hundred thousand characters', () => {
    const log = `${'x'.repeat(100_000)}[   12.000000] Kernel panic - not syncing: deep\n`;
    expect(classifyConsole(bytesOf(log))).toMatchObject({ class: 'panic', title: 'kernel panic: deep' });
  });

  it('keeps a bounded number of reports', () => {
    const log = '[    1.000000] BUG: workqueue lockup - pool\n'.repeat(5 * MAX_REPORTS);
    expect(classifyConsole(bytesOf(log)).reports).toHaveLength(MAX_REPORTS);
  });

  it('has nothing to say about an empty log', () => {
    expect(classifyConsole(new Uint8Array(0))).toEqual({
      crashed: false,
      class: null,
      title: '',
      offset: null,
      truncated: false,
      reports: [],
    });
  });
});
