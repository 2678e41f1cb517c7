import { baseFunction, isGenericFunction, isReportingFunction, symbolIn } from './frames';
import type { ReportBody } from './report';

/** Makes a report's title from the match of its first line and from what its body told. */
export type MakeTitle = (match: RegExpExecArray, body: ReportBody) => string;

/** Finds the function that a report is about; null when the report names none. */
export type PickFunction = (body: ReportBody) => string | null;

/** `text in function`, or `text` alone where no function is known. */
export const within = (text: string, name: string | null): string => (name === null ? text : `${text} in ${name}`);

/** The first of the functions that says where the fault is, `besides` the machinery of every report; null without one. */
export const specific = (names: readonly (string | null)[], besides: RegExp | null = null): string | null =>
  names.find((name): name is string => name !== null && !isGenericFunction(name) && besides?.test(name) !== true) ??
  null;

/** The function that faulted: the program counter, unless it is a primitive that somebody called wrongly. */
export const faulting: PickFunction = (body) =>
  specific([body.programCounter, ...body.frames]) ?? body.programCounter ?? body.frames[0] ?? null;

const CROSS_CALL = /^smp_call_function/;

/** What a stalled processor is in; one that waits for other processors is the victim of any of them. */
export const stalled: PickFunction = (body) => {
  const first = [body.programCounter, ...body.frames].find(
    (name) => name !== null && (CROSS_CALL.test(name) || !isGenericFunction(name)),
  );
  return first != null && CROSS_CALL.test(first) ? 'smp_call_function' : faulting(body);
};

/** The function that the report itself names, else the first of the call trace that is no machinery. */
export const named: PickFunction = (body) =>
  specific([body.named, ...body.frames, body.programCounter]) ?? body.named ?? body.frames[0] ?? body.programCounter;

/** The first function of the call trace that is no machinery: for tasks that wait, or stacks that were dumped. */
export const calling: PickFunction = (body) =>
  specific([...body.frames, body.programCounter]) ??
  body.frames.find((name) => !isReportingFunction(name)) ??
  body.frames[0] ??
  body.programCounter;

/** Like `calling`, and not the functions of the subsystem that only noticed. */
export const callingBesides =
  (noticers: RegExp): PickFunction =>
  (body) =>
    specific([...body.frames, body.programCounter], noticers) ?? calling(body);

/** Who wanted the lock: the function lockdep names first, unless that is a lock primitive. */
export const locking: PickFunction = (body) => specific(body.locks) ?? calling(body) ?? body.locks[0] ?? null;

const WAITING =
  /sched|_lock|_slowlock|^down|rwsem|completion|kthread|wait|context_switch|__switch_to|cancel_delayed_work/;
const GRACE_PERIOD = /^_{0,2}synchronize_(?:s?rcu|net|sched)/;

/** What a hung task waits for: victims of one cause (a grace period, the network lock) get one name. */
export const waiting: PickFunction = (body) => {
  const common = body.frames.find((name) => name === 'rtnl_lock' || GRACE_PERIOD.test(name));
  if (common !== undefined) return common === 'rtnl_lock' ? common : 'synchronize_rcu';
  return specific(body.frames, WAITING) ?? specific(body.frames);
};

/** A title of `text` and the function that `pick` finds. */
export const at =
  (text: string, pick: PickFunction): MakeTitle =>
  (_, body) =>
    within(text, pick(body));

/** A title that is always the same. */
export const fixed =
  (text: string): MakeTitle =>
  () =>
    text;

/** What a group of the first line's match caught; empty when it caught nothing. */
export const group = (match: RegExpExecArray, index: number): string => (match[index] ?? '').trim();

/** What differs from run to run (addresses, counters) taken out of a message, so that equal faults have equal titles. */
export function stable(text: string): string {
  return text
    .slice(0, 160)
    .replace(/\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b/g, 'MAC')
    .replace(/\b(?:(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|(?:[0-9a-f]{1,4}:){1,6}(?::[0-9a-f]{1,4}){1,6})\b/g, 'IPV6ADDR')
    .replace(/\b\d{1,3}(?:\.\d{1,3}){3}\b/g, 'IPV4ADDR')
    .replace(/\b(?:0x)?[0-9a-f]{8,16}\b/g, 'ADDR')
    .replace(/\b0x[0-9a-f]+\b/g, 'NUM')
    .replace(/ {2,}/g, ' ')
    .trim();
}

/** The reason in a panic's first line, without what differs from run to run. */
export function panicTitle(match: RegExpExecArray, body: ReportBody): string {
  const reason = group(match, 1);
  if (reason.startsWith('stack-protector:'))
    return within('kernel panic: stack is corrupted', symbolIn(reason) ?? calling(body));
  if (reason.startsWith('corrupted stack end detected'))
    return within('kernel panic: corrupted stack end', calling(body));
  const known = KNOWN_PANICS.find((text) => reason.startsWith(text));
  return `kernel panic: ${known ?? stable(reason.replace(/ ?\.\.\.$/, ''))}`;
}

/** Reasons after which the kernel prints what differs from case to case. */
const KNOWN_PANICS: readonly string[] = [
  'Attempted to kill init!',
  'Attempted to kill the idle task!',
  'No working init found.',
  'Fatal exception in interrupt',
  "Couldn't open N_TTY ldisc",
];

/** Checking libraries warn on behalf of their caller, and about a thing of their own. */
const WARNING_FILES: readonly (readonly [file: RegExp, reporter: RegExp, text: string, noticers: RegExp])[] = [
  [/^lib\/refcount\.c/, /./, 'WARNING: refcount bug', /refcount|kobject_/],
  [
    /^lib\/debugobjects\.c/,
    /./,
    'WARNING: ODEBUG bug',
    /debug_|rcu|hrtimer_|timer_|work_|percpu_|kmem_|slab_|kfree|vunmap|vfree|__free_|kobject_/,
  ],
  [/^lib\/kobject\.c/, /./, 'WARNING: kobject bug', /kobject_/],
  [/^fs\/proc\/generic\.c/, /^proc_register/, 'WARNING: proc registration bug', /^_?proc_/],
  [/^mm\/usercopy\.c/, /^usercopy_warn/, 'WARNING: bad usercopy', /usercopy|__check/],
  [/^kernel\/locking\/lockdep\.c/, /lock_/, 'WARNING: locking bug', /lock_sock|release_sock/],
  [/^mm\/vmalloc\.c/, /^__vmalloc_node/, 'WARNING: zero-size vmalloc', /vmalloc|vzalloc/],
  [/^mm\//, /k?.?malloc/, 'WARNING: kmalloc bug', /k[mcz]?alloc|krealloc|vmalloc|slab|kmem/],
];

/** A WARNING names its function on its own line; those of the checking libraries mean their caller. */
export function warningTitle(match: RegExpExecArray, body: ReportBody): string {
  const file = group(match, 1);
  const reporter = symbolIn(match.input) ?? body.programCounter;
  const known = WARNING_FILES.find(([where, who]) => where.test(file) && who.test(reporter ?? 'unknown'));
  if (known !== undefined) return within(known[2], callingBesides(known[3])(body));
  if (reporter === 'usb_submit_urb') {
    const driver = specific(body.frames, /^usb_(?:submit_urb|start_wait_urb|bulk_msg|interrupt_msg|control_msg)/);
    return driver === null ? 'WARNING in usb_submit_urb' : `WARNING in ${driver}/usb_submit_urb`;
  }
  const usable = reporter !== null && !isGenericFunction(reporter) ? reporter : (calling(body) ?? reporter);
  return within('WARNING', usable);
}

/** `kernel BUG in function`; the checks of lists and of copies to user space mean their caller. */
export function kernelBugTitle(match: RegExpExecArray, body: ReportBody): string {
  const file = group(match, 1);
  if (file.startsWith('lib/list_debug.c')) return within('BUG: corrupted list', calling(body));
  if (file.startsWith('mm/usercopy.c')) {
    return within('BUG: bad usercopy', callingBesides(/usercopy|__check/)(body));
  }
  return within('kernel BUG', faulting(body));
}

/** `use-after-free` of a KASAN line, with the access that its third line tells (`Read of size 8 at addr ...`). */
export function kasanTitle(match: RegExpExecArray, body: ReportBody): string {
  // Spaces are those of the first versions (4.0 to 4.3).
  const words = group(match, 1);
  const kind = words === 'double-free or invalid-free' ? 'invalid-free' : words.replaceAll(' ', '-');
  const text = `KASAN: ${kind}${body.access === null ? '' : ` ${body.access}`}`;
  if (!kind.endsWith('-free') || kind.endsWith('after-free')) return within(text, named(body));
  return within(text, specific([body.named, ...body.frames], /kmem_|slab_|kfree|vunmap|vfree/) ?? named(body));
}

/** Both functions of a data race, in the order in which the report names them. */
export function dataRaceTitle(match: RegExpExecArray): string {
  const [first, second] = group(match, 1).split(' / ').map(baseFunctionOf);
  return second === undefined ? `KCSAN: data-race in ${first}` : `KCSAN: data-race in ${first} / ${second}`;
}

const baseFunctionOf = (text: string): string => baseFunction(text.replace(/\+0x.*$/, '').trim());
