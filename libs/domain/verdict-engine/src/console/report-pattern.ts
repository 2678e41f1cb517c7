import type { ConsoleClass, ReportEnd, Severity } from './report';
import type { MakeTitle } from './report-titles';

/**
 * How one family of reports begins. Wordings are those of the kernel's own sources (2.6 to 6.x; x86, arm, arm64, RISC-V,
 * POWER, s390, MIPS, LoongArch); titles follow the convention that kernel fuzzing dashboards use, so that they can be
 * searched for.
 */
export interface ReportPattern {
  readonly class: ConsoleClass;
  readonly severity: Severity;
  readonly end: ReportEnd;
  /** Tried on the message, at its start. Quantifiers are bounded or cannot backtrack into one another. */
  readonly start: RegExp;
  /** The title from the first line's match and from what the report's body told. */
  readonly title: MakeTitle;
  /** The line also occurs inside the report of a trap: it opens one only outside such. */
  readonly onlyAlone?: true;
  /** A line from the middle of a report, which says that there was one when its first line was lost. */
  readonly isFragment?: true;
  /** Programs print such words, too: where the kernel does not stamp its lines, only a stack behind it makes it a report. */
  readonly needsStack?: true;
}

/** A report of the kernel's own defect or death. */
export const crash = (
  reportClass: ConsoleClass,
  end: ReportEnd,
  start: RegExp,
  title: MakeTitle,
  more: Pick<ReportPattern, 'onlyAlone' | 'isFragment' | 'needsStack'> = {},
): ReportPattern => ({ class: reportClass, severity: 'crash', end, start, title, ...more });

/** A report of something that the kernel copes with. */
export const trouble = (reportClass: ConsoleClass, end: ReportEnd, start: RegExp, title: MakeTitle): ReportPattern => ({
  class: reportClass,
  severity: 'trouble',
  end,
  start,
  title,
});
