import type { Citation } from '../citation';
import { readConsole, type ConsoleLine } from '../console/console-lines';
import { findReports } from '../console/report-finder';
import type { ConsoleReport } from '../console/report';
import type { Evidence } from '../evidence';
import { SerialLog } from './serial-log';

/** What a kernel or init says about the end of a system. */
export const CONSOLE_MARKS = [
  'panic',
  'power_down',
  'halted',
  'restarting',
  'sysrq_reset',
  'sysrq_power_off',
  'init_stopping',
] as const;
export type ConsoleMarkKind = (typeof CONSOLE_MARKS)[number];

/** One such message. */
export interface ConsoleMark {
  readonly kind: ConsoleMarkKind;
  /** Which boot printed it; 1 is the first. */
  readonly boot: number;
  readonly text: string;
  readonly citation: Citation;
  /** Bytes that the guest had written to the console when this message was out. */
  readonly streamEnd: number;
}

/** A report of the console classifier, with its citation. */
export interface CitedReport extends ConsoleReport {
  readonly boot: number;
  readonly citation: Citation;
}

/** What the console tells. */
export interface SerialFacts {
  /** Times a kernel started: banners, or restarts of the printk clock where the banner is not shown (`quiet`). */
  readonly boots: number;
  /** Something was printed at all. */
  readonly spoke: boolean;
  readonly marks: readonly ConsoleMark[];
  readonly reports: readonly CitedReport[];
  /** Bytes missing between head and tail. */
  readonly droppedBytes: number;
  /** The last line that is not blank; null when nothing was printed. */
  readonly lastLine: Citation | null;
  /** Bytes that the guest wrote in all. */
  readonly totalBytes: number;
}

/**
 * Messages of kernel/reboot.c, kernel/panic.c and drivers/tty/sysrq.c, compared whole unless the kernel adds to them; the
 * sysrq ones were `SysRq : Resetting` before 4.20.
 */
const KERNEL_MARKS: readonly { readonly kind: ConsoleMarkKind; readonly message: RegExp }[] = [
  { kind: 'panic', message: /^Kernel panic - not syncing/ },
  { kind: 'power_down', message: /^reboot: Power down$/ },
  { kind: 'halted', message: /^reboot: (?:System halted|Power off not available: System halted instead)$/ },
  { kind: 'restarting', message: /^reboot: Restarting system(?: with command '.{0,256}')?$/ },
  { kind: 'sysrq_reset', message: /^sysrq: (?:SysRq : )?Resetting$/ },
  { kind: 'sysrq_power_off', message: /^sysrq: (?:SysRq : )?Power Off$/ },
];

/**
 * What an init prints only when it stops the whole system: busybox init, systemd and systemd-shutdown, sysvinit, OpenRC.
 */
const INIT_MESSAGES: readonly RegExp[] = [
  /^The system is going down NOW!$/,
  /^Requesting system (?:poweroff|halt|reboot)$/,
  /^systemd-shutdown\[1\]: (?:Syncing filesystems and block devices\.|All filesystems unmounted\.|Powering off\.|Rebooting\.|Halting system\.)$/,
  /^(?:systemd\[1\]: |\[ {2}OK {2}\] )Reached target .{0,40}(?:System )?(?:Power[ -]?Off|Reboot|Halt|Shutdown)\.?$/i,
  /^INIT: Sending processes (?:configured via \/etc\/inittab )?the TERM signal/,
  /^(?:\* )?(?:Remounting remaining filesystems read-only|Mounting root filesystem read-only|Will now halt)/,
];

/** `INIT_MESSAGES` are short; a longer line is none of them. */
const MAX_INIT_MESSAGE_CHARS = 200;

/** The printk clock of one boot never runs back; messages of different CPUs may be a little out of order. */
const CLOCK_RESTART_SECONDS = 0.1;

/** Reads the console once; linear in its length. */
export function serialFacts(evidence: Evidence): SerialFacts {
  const log = new SerialLog(evidence);
  const { lines, kernelLines } = readConsole(log.bytes);
  const bootOf = bootStarts(kernelLines);
  const kernel = new Set(kernelLines);
  const marks: ConsoleMark[] = [];
  for (const line of lines) {
    const kind = markOf(line, kernel.has(line));
    if (kind === null) continue;
    marks.push({
      kind,
      boot: bootOf.at(line.offset),
      text: line.text,
      citation: log.cite(line.offset, line.length, line.text),
      streamEnd: log.streamPosition(line.offset) + line.length,
    });
  }
  const reports = findReports(kernelLines).map((report) => ({
    ...report,
    boot: bootOf.at(report.offset),
    citation: log.cite(report.offset, report.length, report.text),
  }));
  return {
    boots: bootOf.count,
    spoke: lines.length > 0,
    marks,
    reports,
    droppedBytes: Math.max(0, evidence.meta.serial.droppedBytes),
    lastLine: lastLine(lines, log),
    totalBytes: Math.max(evidence.meta.serial.totalBytes, evidence.serialHead.length + evidence.serialTail.length),
  };
}

function markOf(line: ConsoleLine, fromKernel: boolean): ConsoleMarkKind | null {
  if (fromKernel) {
    const mark = KERNEL_MARKS.find(({ message }) => message.test(line.text));
    if (mark !== undefined) return mark.kind;
  }
  // Init may print through the kernel's log or straight to the console; a line without its end may be cut short.
  if (!line.terminated || line.text.length > MAX_INIT_MESSAGE_CHARS) return null;
  return INIT_MESSAGES.some((message) => message.test(line.text)) ? 'init_stopping' : null;
}

function lastLine(lines: readonly ConsoleLine[], log: SerialLog): Citation | null {
  const last = lines.findLast((line) => line.text !== '');
  return last === undefined ? null : log.cite(last.offset, last.length, last.text);
}

/** Where each boot begins in the log. */
interface BootStarts {
  readonly count: number;
  /** Number of the boot that printed what stands at `offset`; at least 1. */
  at(offset: number): number;
}

/** linux_banner (init/version.c) is the first thing a kernel prints, or follows the line that names the boot CPU on arm64. */
const BANNER = /^Linux version \d/;

function bootStarts(kernelLines: readonly ConsoleLine[]): BootStarts {
  const starts: number[] = [];
  let clock = -1;
  let banner = false;
  for (const { text, offset, clockSeconds } of kernelLines) {
    // A banner is printed while the clock stands still; `cat /proc/version` is not.
    const isBanner = BANNER.test(text) && (clockSeconds ?? 0) < 1;
    const clockRestarted = clockSeconds !== null && clockSeconds + CLOCK_RESTART_SECONDS < clock;
    if (
      isBanner
        ? starts.length === 0 || banner || clock > 0
        : clockRestarted || (starts.length === 0 && clockSeconds !== null)
    ) {
      starts.push(offset);
      clock = -1;
      banner = false;
    }
    if (isBanner) banner = true;
    if (clockSeconds !== null) clock = Math.max(clock, clockSeconds);
  }
  return { count: starts.length, at: (offset) => Math.max(1, countUpTo(starts, offset)) };
}

/** How many of the ascending `starts` are at most `offset`; by bisection, for a guest may boot and print without end. */
function countUpTo(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] as number) <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
