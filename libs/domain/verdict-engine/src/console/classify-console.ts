import { KernelVoice, LineSplitter, type ConsoleLine } from './console-lines';
import { ReportFinder } from './report-finder';
import type { ConsoleClass, ConsoleReport } from './report';

/** Shorter lines hold nothing that the classifier reads; `<TASK>` is the shortest that it does. */
const MIN_LINE_CHARS = 6;

/** What the kernel's own log says about its health. */
export interface ConsoleClassification {
  /** The kernel reported a defect, its own death, or trouble with memory, storage or hardware: there is a report. */
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
  const classifier = new ConsoleClassifier();
  classifier.push(bytes);
  return classifier.finish();
}

/** `classifyConsole` for a log that comes in chunks: its memory does not grow with the log. */
export class ConsoleClassifier {
  private readonly splitter = new LineSplitter((line) => this.take(line), MIN_LINE_CHARS);
  private readonly voice = new KernelVoice();
  private finder = new ReportFinder();
  private isStamped = false;

  /** The next bytes of the log. */
  push(bytes: Uint8Array): void {
    this.splitter.push(bytes);
  }

  /** The log is over. */
  finish(): ConsoleClassification {
    this.splitter.end();
    const reports = this.finder.reports();
    const first = reports.find((report) => report.severity === 'crash') ?? reports[0];
    return {
      crashed: first !== undefined,
      class: first?.class ?? null,
      title: first?.title ?? '',
      offset: first?.offset ?? null,
      truncated: first?.truncated ?? false,
      reports,
    };
  }

  private take(line: ConsoleLine): void {
    this.voice.hear(line);
    if (this.voice.isStamped && !this.isStamped) {
      // All that came before was a program's, or firmware's.
      this.isStamped = true;
      this.finder = new ReportFinder();
    }
    if (this.isStamped && !line.stamped) return;
    this.finder.push(line);
  }
}
