import type { ConsoleLine } from './console-lines';
import { OpenReport } from './open-report';
import type { ReportPattern } from './report-pattern';
import { mayOpenReport, patternsFor } from './report-patterns';
import type { ConsoleReport } from './report';

/** Reports kept of one log; a machine that warns for ever repeats itself. */
export const MAX_REPORTS = 100;

/** Of these, reports of trouble: a disk that fails for hours must not hide the panic that it leads to. */
const MAX_TROUBLE_REPORTS = MAX_REPORTS / 2;

/** Reports that can be unfinished at once: of several CPUs, or one inside the other. */
const MAX_OPEN_REPORTS = 4;

/** The reports among the kernel's messages, in order. */
export function findReports(lines: readonly ConsoleLine[]): readonly ConsoleReport[] {
  const finder = new ReportFinder();
  for (const line of lines) finder.push(line);
  return finder.reports();
}

/** Finds reports in messages that come one by one; needs no more memory for a longer log. */
export class ReportFinder {
  private found: OpenReport[] = [];
  private open: readonly OpenReport[] = [];
  private troubles = 0;
  private isFull = false;

  push(line: ConsoleLine): void {
    const current = this.open.findLast((report) => report.isFrom(line));
    const started = this.isFull ? null : startOf(line);
    if (started !== null && current?.absorbs(started.pattern) !== true) this.begin(started, line, current);
    else if (current !== undefined) this.carryOn(current, line);
  }

  /** What was found so far; reports that have not ended are truncated. */
  reports(): readonly ConsoleReport[] {
    return this.found
      .map((report) => report.toReport())
      .filter((report) => report !== null)
      .slice(0, MAX_REPORTS);
  }

  private begin({ pattern, match }: Start, line: ConsoleLine, current: OpenReport | undefined): void {
    if (pattern.severity === 'trouble' && ++this.troubles > MAX_TROUBLE_REPORTS) return;
    const report = new OpenReport(pattern, match, line);
    this.keep(report);
    // A whole one is over; one that is not goes on behind the new one: a panic in an oops, another CPU's warning.
    const rest = this.open.filter((other) => other !== current || !other.isWhole);
    if (report.class === 'panic') for (const other of rest) if (other.isFrom(line)) other.leadsToPanic();
    this.open = (report.isOver ? rest : [...rest, report]).slice(-MAX_OPEN_REPORTS);
  }

  /** Words of programs that turned out to be no reports must not crowd out those that come later. */
  private keep(report: OpenReport): void {
    this.found.push(report);
    if (this.found.length < 2 * MAX_REPORTS) return;
    this.found = this.found.filter((other) => this.open.includes(other) || other.toReport() !== null);
    this.isFull = this.found.length >= MAX_REPORTS;
  }

  private carryOn(current: OpenReport, line: ConsoleLine): void {
    current.read(line);
    if (current.class === 'panic') this.carryOnBehindPanic(current, line);
    this.open = this.open.filter((report) => !report.isOver);
  }

  /** The stack of a panic is that of the report which led to it, when that showed none; its end is the end of both. */
  private carryOnBehindPanic(panic: OpenReport, line: ConsoleLine): void {
    for (const report of this.open) {
      if (report === panic || !report.isFrom(line)) continue;
      if (report.sharesPanic) report.read(line);
      if (panic.isWhole) report.endWithPanic();
    }
  }
}

interface Start {
  readonly pattern: ReportPattern;
  readonly match: RegExpExecArray;
}

function startOf({ text }: ConsoleLine): Start | null {
  if (!mayOpenReport(text)) return null;
  for (const pattern of patternsFor(text)) {
    const match = pattern.start.exec(text);
    if (match !== null) return { pattern, match };
  }
  return null;
}
