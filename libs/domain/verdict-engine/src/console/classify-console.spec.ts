import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { classifyConsole, MAX_REPORTS, type ConsoleClassification } from './classify-console';

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
