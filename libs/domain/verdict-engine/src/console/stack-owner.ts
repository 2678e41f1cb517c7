import { isTraceHeader } from './frames';

/** Where reports name the task that they are about. Comms may hold any character; the last number is the PID. */
const OWN_PID = [
  /^WARNING: CPU: \d{1,5} PID: (\d{1,10}) at /,
  /^WARNING: .{1,300}, CPU#\d{1,5}: .{1,64}\/(\d{1,10})$/,
  /^INFO: task .{1,64}:(\d{1,10}) (?:blocked|can't die)/,
  /: soft lockup - .{1,80}\[.{1,64}:(\d{1,10})\]$/,
  /^(?:Read|Write|Free) .{1,80} by task .{1,64}\/(\d{1,10})$/i,
  /^BUG: scheduling while atomic: .{1,64}\/(\d{1,10})\/0x/,
  /^BUG: using .{1,80} code: .{1,64}\/(\d{1,10})$/,
  /^BUG: (?:spin|rw)lock .{1,40} on CPU#\d{1,5}, .{1,64}\/(\d{1,10})(?:,|$)/,
  /^in_atomic\(\): .{1,80} pid: (\d{1,10}), name: /,
  // The lock validator.
  /^.{1,64}\/(\d{1,10})(?: \[[^ ]{1,60}\])? (?:is trying to|takes:|is freeing memory|just changed the state)/,
  /^\d{1,3} locks? held by .{1,64}\/(\d{1,10})(?:: |:$|\.$|$)/,
];

/** dump_stack_print_info (lib/dump_stack.c): whose stack comes next. */
const STACK_PID = /^CPU: \d{1,5} (?:UID: \d{1,10} )?PID: (\d{1,10}) Comm: /;

/** How an object or a page came to be: stacks of the past, until the next "Call Trace:". */
const STACK_OF_THE_PAST = /^(?:INFO: )?(?:Allocated|Freed) (?:by|in) |^page last |^page_owner |^Uninit was /;

/** The stall detector shows its own thread before the processors that stall. */
const STACK_OF_DETECTOR = /^RCU grace-period kthread stack dump:/;
const STACK_OF_PROCESSOR = /^(?:NMI backtrace for cpu|Task dump for CPU|Stack dump where|[Ss]ending NMI|CPU: \d)/;

/** Tells whether the stack that a report shows is that of its own task: other stacks stand beside it or between its lines. */
export class StackOwner {
  private pid: string | null;
  private readonly isWarning: boolean;
  private hasShown = false;
  private isForeign = false;
  private beside: 'past' | 'detector' | null = null;

  constructor(firstLine: string) {
    this.pid = pidIn(firstLine);
    this.isWarning = firstLine.startsWith('WARNING: CPU: ');
  }

  /** A frame that comes now is one of the report's own task, as far as one can see. */
  get isOwn(): boolean {
    return !this.isForeign && this.beside === null;
  }

  /** A warning names its task before the stack: nothing before the line that names it again is that stack. */
  get isAwaited(): boolean {
    return this.isWarning && this.pid !== null && !this.hasShown;
  }

  /** Takes in a line; true when the own stack begins only now, and what looked like it before was another's. */
  follow(text: string): boolean {
    this.pid ??= pidIn(text);
    if (STACK_OF_THE_PAST.test(text)) this.beside = 'past';
    else if (STACK_OF_DETECTOR.test(text)) this.beside = 'detector';
    else if (this.beside === 'past' && isTraceHeader(text)) this.beside = null;
    else if (this.beside === 'detector' && STACK_OF_PROCESSOR.test(text)) this.beside = null;

    const shown = STACK_PID.exec(text)?.[1];
    if (shown === undefined || this.pid === null) return false;
    this.isForeign = shown !== this.pid;
    const begins = !this.isForeign && !this.hasShown;
    if (begins) this.hasShown = true;
    return begins;
  }
}

function pidIn(text: string): string | null {
  for (const pattern of OWN_PID) {
    const pid = pattern.exec(text)?.[1];
    if (pid !== undefined) return pid;
  }
  return null;
}
