/**
 * A printk timestamp, `[   12.345678] `, as the kernel's print_time() writes it; vendors add a CPU (`@0`), and
 * CONFIG_PRINTK_CALLER a task or CPU (`[   T123]`), which stands alone where timestamps are off. Every quantifier is bounded.
 */
const STAMP = /\[ {0,12}(\d{1,10}\.\d{3,9})(?:[@,]\d{1,3})?\](?: ?\[ {0,8}([TC]\d{1,10})\])? ?/y;
const CALLER_ALONE = /\[ {1,8}([TC]\d{1,10})\] /y;

/** The console level that a serial dump of the kernel's log keeps before a timestamp, as in `<6>`. */
const LEVEL_BEFORE = /<\d{1,3}>$/;
const LEVEL_MAX_CHARS = 5;

/** Priorities are a facility times eight, and a level; the kernel's facility is 0, /dev/kmsg forces another on programs. */
const FIRST_PROGRAM_PRIORITY = 8;

/** What phone vendors put between timestamp and message: CPU and task, `(0)[123:comm]` or `[0:  comm: 123]`. */
const VENDOR_TASK = /^(?:\(\d{1,2}\)\[\d{1,7}:[^\]]{1,32}\]|\[\d{1,2}: {0,20}[^\]:]{1,32}: {0,8}\d{1,7}\]) ?/;

/** What syslog daemons and `journalctl -k` put before a kernel message. */
const SYSLOG_KERNEL = ' kernel: ';
const SYSLOG_PREFIX_MAX_CHARS = 100;

/** `dmesg -T`, and a record of /dev/kmsg or of the extended netconsole (priority, sequence, microseconds, flags). */
const CALENDAR_STAMP = /^\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\] /;
const KMSG_RECORD = /^(\d{1,3}),\d{1,12},(\d{1,16}),[-cf](?:,[^;]{0,80})?;/;

/** What collectors of logs put before every line, the kernel's or not. */
const COLLECTOR_STAMP = /^\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?:? /;

/** The prompt of getty, which waits at the end of its line for whatever is printed next. */
const LOGIN_PROMPT = /^[\w.-]{1,64} login: /;

/** The mark by which a message is the kernel's. */
export interface Stamp {
  /** Seconds since that boot; null when the mark holds no time. */
  readonly seconds: number | null;
  /** The task (`T123`) or CPU (`C0`) that printed, where the kernel names it. */
  readonly caller: string | null;
  /** False when the priority before it says that a program wrote the message to the kernel's log. */
  readonly isKernel: boolean;
  /** Index of its first character: that of the level before it, when there is one. */
  readonly start: number;
  /** Index of the first character after it. */
  readonly end: number;
}

/** The timestamp or caller that begins at `at` of a line, or null. */
export function stampAt(line: string, at: number): Stamp | null {
  STAMP.lastIndex = at;
  const match = STAMP.exec(line);
  if (match !== null) {
    const start = startOfLevel(line, at);
    const isKernel = isKernelLevel(line, start, at);
    const vendor = VENDOR_TASK.exec(line.slice(STAMP.lastIndex, STAMP.lastIndex + SYSLOG_PREFIX_MAX_CHARS));
    const end = STAMP.lastIndex + (vendor?.[0].length ?? 0);
    return { seconds: Number(match[1]), caller: match[2] ?? null, isKernel, start, end };
  }
  // Alone it is a mark only where a line begins: brackets are common in text.
  if (at > LEVEL_MAX_CHARS || startOfLevel(line, at) > 0) return null;
  CALLER_ALONE.lastIndex = at;
  const caller = CALLER_ALONE.exec(line);
  if (caller === null) return null;
  const isKernel = isKernelLevel(line, 0, at);
  return { seconds: null, caller: caller[1] ?? null, isKernel, start: 0, end: CALLER_ALONE.lastIndex };
}

/** Where the level stands that comes right before `at`; `at` when there is none. */
function startOfLevel(line: string, at: number): number {
  if (at === 0 || line.charAt(at - 1) !== '>') return at;
  const level = LEVEL_BEFORE.exec(line.slice(Math.max(0, at - LEVEL_MAX_CHARS), at));
  return at - (level?.[0].length ?? 0);
}

/** False when the level from `start` to `end`, in angle brackets, is a priority of a program. */
const isKernelLevel = (line: string, start: number, end: number): boolean =>
  start === end || Number(line.slice(start + 1, end - 1)) < FIRST_PROGRAM_PRIORITY;

/** A message without the prefix that something other than the kernel's console gave it. */
export interface UnstampedMessage {
  readonly text: string;
  /** The prefix says that the message is the kernel's. */
  readonly isKernel: boolean;
  readonly seconds: number | null;
}

/** Takes off what syslog daemons, `dmesg` and collectors put before a message. */
export function withoutPrefix(text: string): UnstampedMessage {
  const kernel = text.slice(0, SYSLOG_PREFIX_MAX_CHARS).indexOf(SYSLOG_KERNEL);
  if (kernel !== -1) return { text: text.slice(kernel + SYSLOG_KERNEL.length), isKernel: true, seconds: null };
  const calendar = CALENDAR_STAMP.exec(text);
  if (calendar !== null) return { text: text.slice(calendar[0].length), isKernel: true, seconds: null };
  const record = KMSG_RECORD.exec(text);
  if (record !== null) {
    const isKernel = Number(record[1]) < FIRST_PROGRAM_PRIORITY;
    return { text: text.slice(record[0].length), isKernel, seconds: Number(record[2]) / 1e6 };
  }
  const collected = text.slice(COLLECTOR_STAMP.exec(text)?.[0].length ?? 0);
  return { text: collected.replace(/^<\d{1,3}>/, '').replace(LOGIN_PROMPT, ''), isKernel: false, seconds: null };
}
