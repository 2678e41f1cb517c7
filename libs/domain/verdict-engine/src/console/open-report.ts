import { printable } from '../citation';
import type { ConsoleLine } from './console-lines';
import { frameFunction, isTraceHeader, programCounterFunction, symbolIn } from './frames';
import type { ReportPattern } from './report-pattern';
import type { ConsoleReport, ReportBody } from './report';
import { StackOwner } from './stack-owner';

/** Lines after which a report that has not ended is taken as over: other output has long begun. */
const MAX_REPORT_LINES = 500;

/** Functions kept of one call trace: the title needs the first that is no machinery. */
const MAX_FRAMES = 40;

/** What these subsystems put before each line of a report. */
const SUBSYSTEM = /^(?:rcu|kmemleak):\s+/;

/** A report of lockdep names the wanted lock and the held one first. */
const MAX_LOCKS = 2;

/** A report that has begun, and takes in its lines. */
export class OpenReport {
  private hasEnded: boolean;
  private linesRead = 0;
  private hasHeader = false;
  private framesSinceHeader = 0;
  private isInTask = false;
  private dumpsAllCpus = false;
  private isInPanic = false;
  private isLastWhole: boolean;
  private awaitsLock = false;
  private readonly owner: StackOwner;
  private readonly body: ReportBody;

  constructor(
    private readonly pattern: ReportPattern,
    private readonly match: RegExpExecArray,
    private readonly line: ConsoleLine,
  ) {
    this.hasEnded = pattern.end === 'line' && line.terminated;
    this.isLastWhole = line.terminated;
    this.owner = new StackOwner(line.text);
    this.body = {
      named: symbolIn(line.text) ?? namedIn(line.text),
      programCounter: null,
      frames: [],
      access: null,
      locks: [],
      victim: null,
    };
  }

  get class(): ReportPattern['class'] {
    return this.pattern.class;
  }

  /** It takes in no more lines. */
  get isOver(): boolean {
    return this.hasEnded || this.pattern.end === 'line' || this.linesRead >= MAX_REPORT_LINES;
  }

  /** The report of a trap or a BUG, which prints `Oops:` and `invalid opcode:` lines of its own. */
  get isTrap(): boolean {
    return this.pattern.end === 'end-trace';
  }

  /** Nothing that it needs is missing so far. */
  get isWhole(): boolean {
    if (this.hasEnded) return true;
    const { locks } = this.body;
    switch (this.pattern.end) {
      case 'trace':
        return this.hasTrace;
      case 'held':
        return locks.length > 0 && this.isLastWhole;
      default:
        return false;
    }
  }

  /** Its call trace is there to the end, as far as one can see. */
  private get hasTrace(): boolean {
    if (this.framesSinceHeader === 0 || this.isInTask || !this.isLastWhole || this.owner.isAwaited) return false;
    // Before its own stack lockdep shows those of the locks' earlier users.
    return this.pattern.class !== 'lockdep' || this.hasHeader;
  }

  /** The kernel panics over it. Without a call trace so far, it takes in the panic's; with one, it has said it all. */
  leadsToPanic(): void {
    this.isInPanic = !this.hasTrace;
    if (this.hasTrace && this.isTrap) this.hasEnded = true;
  }

  /** The panic's lines are the report's, too. */
  get sharesPanic(): boolean {
    return this.isInPanic;
  }

  /**
   * Whose line it may be: the same task or CPU printed it, or nobody says who printed. When other CPUs are asked for their
   * stacks, their lines belong to the report, too.
   */
  isFrom({ caller }: ConsoleLine): boolean {
    const own = this.line.caller;
    if (own === null || caller === null || own === caller) return true;
    return this.dumpsAllCpus && caller.startsWith('C');
  }

  /**
   * True when a line that could open a report of its own only carries this one on: the BUG behind a list check, the
   * WARNING behind a counter check, the second line of a double fault, the name of the process killed for memory.
   */
  absorbs(pattern: ReportPattern): boolean {
    if (pattern.isFragment === true || (pattern.onlyAlone === true && this.isTrap)) return true;
    switch (this.pattern.class) {
      case 'list_corruption':
        return pattern.class === 'kernel_bug' || pattern.class === 'warning';
      case 'double_fault':
        return pattern.class === 'double_fault';
      case 'use_after_free':
        return pattern.class === 'warning' && this.linesRead < 3;
      case 'memory_leak':
      case 'page_allocation_failure':
      case 'kasan':
      case 'kmsan':
        // A resolved log names the inlined functions on lines of their own.
        return pattern.class === this.pattern.class && this.linesRead < 3;
      case 'bug':
        return pattern.class === 'warning' && this.linesRead < 3;
      case 'oops':
        return pattern.class === 'double_fault';
      case 'oom_kill':
        return pattern.class === 'oom_kill' && this.pattern.end === 'kill' && this.body.victim === null;
      default:
        return false;
    }
  }

  /** Takes in one line. */
  read({ text: printed, terminated }: ConsoleLine): void {
    const text = printed.replace(SUBSYSTEM, '');
    this.linesRead++;
    if (this.owner.follow(text)) this.forgetStack();
    const frame = frameFunction(text);
    this.isLastWhole = terminated;
    this.followTrace(text, frame);
    this.learn(text);
    if (this.endsAt(text)) this.hasEnded = true;
  }

  /** The panic that this report led to has been reported to its end. */
  endWithPanic(): void {
    this.hasEnded = true;
  }

  /** The report, or null when it turned out to be none: a program's words. */
  toReport(): ConsoleReport | null {
    const { class: reportClass, severity, title, needsStack } = this.pattern;
    const { text, offset, length, stamped } = this.line;
    if (needsStack === true && !stamped && this.body.frames.length === 0 && this.body.programCounter === null)
      return null;
    return {
      class: reportClass,
      severity,
      title: printable(title(this.match, this.body)),
      text,
      offset,
      length,
      truncated: !this.isWhole,
    };
  }

  /** The stack so far was another task's, which printed at the same time. */
  private forgetStack(): void {
    this.body.frames.length = 0;
    this.body.programCounter = null;
  }

  private followTrace(text: string, frame: string | null): void {
    if (isTraceHeader(text)) {
      this.hasHeader = true;
      this.framesSinceHeader = 0;
    }
    if (frame !== null) {
      this.framesSinceHeader++;
      if (this.owner.isOwn && this.body.frames.length < MAX_FRAMES) this.body.frames.push(frame);
    }
    if (text === '<TASK>') this.isInTask = true;
    if (text === '</TASK>') this.isInTask = false;
    if (text.includes('Sending NMI from CPU')) this.dumpsAllCpus = true;
  }

  private learn(text: string): void {
    const { body } = this;
    if (this.owner.isOwn) body.programCounter ??= programCounterFunction(text);
    body.access ??= /^(Read|Write) (?:of size \d|at addr )/i.exec(text)?.[1] ?? null;
    body.victim ??= /Kill(?:ed)? process \d+ \((.{1,32}?)\)(?:[ ,]|$)/.exec(text)?.[1] ?? null;
    if (this.pattern.class !== 'lockdep' || body.locks.length === MAX_LOCKS) return;
    // "is trying to release lock (x) at:" has the function on a line of its own.
    const lock = this.awaitsLock ? text : /,? at: (?:\[<[0-9a-f]{1,16}>\] )?(\S{1,160})/.exec(text)?.[1];
    this.awaitsLock = text.endsWith(' at:');
    const name = lock === undefined ? null : symbolIn(lock);
    if (name !== null) body.locks.push(name);
  }

  private endsAt(text: string): boolean {
    switch (this.pattern.end) {
      case 'line':
        return true;
      case 'kill':
        return this.body.victim !== null;
      case 'end-panic':
        return isPanicEnd(text);
      case 'rule':
        return isRule(text) || isTraceEnd(text) || isPanicEnd(text);
      default:
        return isTraceEnd(text) || isPanicEnd(text);
    }
  }
}

/** KASAN and its kin name the function without an offset when kallsyms is off. */
function namedIn(text: string): string | null {
  return / in ([A-Za-z_]\w{0,120})(?:\s|$)/.exec(text)?.[1] ?? null;
}

const isTraceEnd = (text: string): boolean => /^---\[ end trace (?:[0-9a-f]{1,16} )?\]---/.test(text);
const isPanicEnd = (text: string): boolean => /^(?:---\[ end Kernel panic|Rebooting in \d{1,10} seconds)/.test(text);
const isRule = (text: string): boolean => text.startsWith('=========================');
