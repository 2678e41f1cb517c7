import { printable } from '../citation';
import { readConsole, type ConsoleLine } from './console-lines';
import { frameFunction, programCounterFunction, symbolIn } from './frames';
import { REPORT_PATTERNS, type ReportPattern } from './report-patterns';
import type { ConsoleClass, ConsoleReport, ReportBody } from './report';

/** Reports kept of one log; a machine that warns for ever repeats itself. */
export const MAX_REPORTS = 100;

/** Lines after which a report that has not ended is taken as over: other output has long begun. */
const MAX_REPORT_LINES = 500;

/** Functions kept of one call trace: the title needs the first that is no machinery. */
const MAX_FRAMES = 40;

/** What the kernel's own log says about its health. */
export interface ConsoleClassification {
  /** The kernel reported a defect or its own death. */
  readonly crashed: boolean;
  /** Class of the first crash, else of the first trouble, else null. Later reports are usually its consequences. */
  readonly class: ConsoleClass | null;
  /** Its title; empty when there is no report. */
  readonly title: string;
  /** Byte at which it begins; null when there is no report. */
  readonly offset: number | null;
  /** It stops before its end. */
  readonly truncated: boolean;
  /** All reports in order, at most `MAX_REPORTS`. */
  readonly reports: readonly ConsoleReport[];
}

/**
 * Finds the kernel's reports in a console log: panics, oopses, BUGs and WARNINGs, sanitizer and lock reports, hung tasks,
 * lockups and stalls, memory, file system, block and machine-check trouble. Works on bytes, through escape sequences,
 * carriage returns, timestamps and syslog prefixes. Linear in the log's length; never throws.
 */
export function classifyConsole(bytes: Uint8Array): ConsoleClassification {
  const reports = findReports(readConsole(bytes).kernelLines);
  const first = reports.find((report) => report.severity === 'crash') ?? reports[0];
  return {
    crashed: first?.severity === 'crash',
    class: first?.class ?? null,
    title: first?.title ?? '',
    offset: first?.offset ?? null,
    truncated: first?.truncated ?? false,
    reports,
  };
}

/** The reports among the kernel's messages, in order. */
export function findReports(lines: readonly ConsoleLine[]): readonly ConsoleReport[] {
  const reports: OpenReport[] = [];
  let open: OpenReport | null = null;
  for (const line of lines) {
    const started: OpenReport | null = startReport(line, open);
    if (started !== null) {
      if (reports.length === MAX_REPORTS) break;
      reports.push(started);
      open = started.ended ? null : started;
    } else if (open !== null && open.read(line)) {
      open = null;
    }
  }
  return reports.map((report) => report.toReport());
}

function startReport(line: ConsoleLine, open: OpenReport | null): OpenReport | null {
  for (const pattern of REPORT_PATTERNS) {
    if (pattern.onlyAlone === true && open?.isTrap === true) continue;
    const match = pattern.start.exec(line.text);
    if (match === null) continue;
    return open?.absorbs(pattern) === true ? null : new OpenReport(pattern, match, line);
  }
  return null;
}

/** A report whose end has not been read yet. */
class OpenReport {
  ended: boolean;
  private complete: boolean;
  private linesRead = 0;
  private acquiringNext = false;
  private readonly body: ReportBody;

  constructor(
    private readonly pattern: ReportPattern,
    private readonly match: RegExpExecArray,
    private readonly line: ConsoleLine,
  ) {
    this.ended = pattern.end === 'line';
    this.complete = this.ended;
    this.body = {
      named: symbolIn(line.text) ?? namedIn(line.text),
      programCounter: null,
      frames: [],
      access: null,
      acquiring: null,
    };
  }

  /**
   * True when a line that could open a report of its own only carries this one on: the BUG behind a list check, the
   * WARNING behind a counter check, the second line of a double fault.
   */
  absorbs(pattern: ReportPattern): boolean {
    const { class: own } = this.pattern;
    if (own === 'list_corruption') return pattern.class === 'kernel_bug' || pattern.class === 'warning';
    if (own === 'double_fault') return pattern.class === 'double_fault';
    if (own === 'use_after_free') return pattern.class === 'warning' && this.linesRead < 3;
    return false;
  }

  /** The report of a trap or a BUG, which prints `Oops:` and `invalid opcode:` lines of its own. */
  get isTrap(): boolean {
    return this.pattern.end === 'end-trace';
  }

  /** Takes in one line of the report; true when that was its last. */
  read({ text }: ConsoleLine): boolean {
    this.linesRead++;
    this.learn(text);
    this.ended = this.endsAt(text);
    return this.ended || this.linesRead >= MAX_REPORT_LINES;
  }

  toReport(): ConsoleReport {
    const { class: reportClass, severity, title } = this.pattern;
    const { text, offset, length } = this.line;
    return {
      class: reportClass,
      severity,
      title: printable(title(this.match, this.body)),
      text,
      offset,
      length,
      truncated: !this.complete,
    };
  }

  private learn(text: string): void {
    const { body } = this;
    body.programCounter ??= programCounterFunction(text);
    const frame = body.frames.length < MAX_FRAMES ? frameFunction(text) : null;
    if (frame !== null) body.frames.push(frame);
    body.access ??= /^(Read|Write) of size \d/i.exec(text)?.[1] ?? null;
    if (this.acquiringNext) {
      body.acquiring ??= / at: /.test(text) ? symbolIn(text) : null;
      this.acquiringNext = false;
    }
    if (text.endsWith('is trying to acquire lock:')) this.acquiringNext = true;
    if (this.pattern.end === 'trace' && body.frames.length > 0) this.complete = true;
  }

  private endsAt(text: string): boolean {
    const ends = isEnd(this.pattern, text);
    if (ends) this.complete = true;
    return ends;
  }
}

/** KASAN and its kin name the function without an offset when kallsyms is off. */
function namedIn(text: string): string | null {
  return / in ([A-Za-z_]\w{0,120})(?:\s|$)/.exec(text)?.[1] ?? null;
}

const isTraceEnd = (text: string): boolean => text.startsWith('---[ end trace');
const isPanicEnd = (text: string): boolean =>
  text.startsWith('---[ end Kernel panic') || /^Rebooting in \d+ seconds/.test(text);
const isRule = (text: string): boolean => text.startsWith('=========================');

function isEnd(pattern: ReportPattern, text: string): boolean {
  switch (pattern.end) {
    case 'line':
      return true;
    case 'end-panic':
      return isPanicEnd(text);
    case 'end-trace':
      return isTraceEnd(text) || isPanicEnd(text);
    case 'rule':
      return isRule(text) || isTraceEnd(text);
    case 'trace':
      return isTraceEnd(text) || isPanicEnd(text);
  }
}
