import { baseFunction } from './frames';
import { LOCK_PATTERNS } from './lock-patterns';
import { crash, type ReportPattern } from './report-pattern';
import {
  at,
  calling,
  callingBesides,
  dataRaceTitle,
  faulting,
  fixed,
  group,
  kasanTitle,
  kernelBugTitle,
  named,
  panicTitle,
  stable,
  stalled,
  waiting,
  warningTitle,
  within,
} from './report-titles';
import { TRAP_PATTERNS } from './trap-patterns';
import { TROUBLE_PATTERNS } from './trouble-patterns';

const SANITIZER_PATTERNS: readonly ReportPattern[] = [
  crash('kasan', 'rule', /^BUG: KAS(?:AN|an): ([\w -]{1,60}?)(?: in .*| on address.*)?$/, kasanTitle),
  crash(
    'kasan',
    'rule',
    /^(Read|Write) of size \d{1,20} (?:at addr [0-9a-f]{8,16} )?by task \S/,
    (match, body) => within(`KASAN: bad-access ${group(match, 1)}`, calling(body)),
    { isFragment: true, needsStack: true },
  ),
  crash('kfence', 'rule', /^BUG: KFENCE: ([\w -]{1,60}?)(?: in .*)?$/, (match, body) =>
    within(`KFENCE: ${group(match, 1).replace(/ (?:read|write)$/, '')}`, named(body)),
  ),
  crash('kcsan', 'rule', /^BUG: KCSAN: data-race in (.{1,200})$/, dataRaceTitle),
  crash('kcsan', 'rule', /^BUG: KCSAN: ([\w :-]{1,60}?)(?: in .*)?$/, (match, body) =>
    within(`KCSAN: ${group(match, 1)}`, named(body)),
  ),
  crash('kmsan', 'rule', /^BUG: KMSAN: ([\w -]{1,60}?)(?: in .*)?$/, (match, body) =>
    within(`KMSAN: ${group(match, 1)}`, named(body)),
  ),
  crash('ubsan', 'rule', /^UBSAN: [Uu]ndefined behaviour in \S+/, at('UBSAN: undefined-behaviour', calling)),
  crash('ubsan', 'rule', /^UBSAN: ([\w -]{1,60}?) in \S+/, (match, body) =>
    within(`UBSAN: ${group(match, 1)}`, calling(body)),
  ),
  // CONFIG_UBSAN_TRAP: the processor traps, and the kernel decodes why.
  crash('ubsan', 'end-trace', /^Internal error: UBSAN: ([\w -]{1,60}): [0-9a-f]{1,16} \[#/, (match, body) =>
    within(`UBSAN: ${group(match, 1).replaceAll(' ', '-')}`, faulting(body)),
  ),
];

const LOCKUP_PATTERNS: readonly ReportPattern[] = [
  crash('soft_lockup', 'trace', /^(?:NMI )?(?:watchdog: )?BUG: soft lockup - /, at('BUG: soft lockup', stalled)),
  crash(
    'hard_lockup',
    'trace',
    /^(?:NMI )?(?:watchdog: )?(?:CPU ?\d{1,5}: )?(?:Watchdog detected hard LOCKUP|(?:Watchdog )?CPU[ :]?\d{1,5} (?:self-detected )?[Hh]ard LOCKUP)/,
    at('BUG: hard lockup', stalled),
  ),
  crash(
    'hung_task',
    'trace',
    /^INFO: task .{1,64} blocked (?:in I\/O wait )?for more than \d+ seconds/,
    at('INFO: task hung', waiting),
  ),
  crash('hung_task', 'trace', /^INFO: task .{1,64} can't die for more than \d+ seconds/, (_, body) =>
    within("INFO: task can't die", callingBesides(/schedule/)(body)),
  ),
  crash(
    'rcu_stall',
    'trace',
    /^(?:rcu: )?INFO: rcu_\w+ (?:self-)?detected(?: expedited)? stalls?/,
    at('INFO: rcu detected stall', stalled),
  ),
  crash('workqueue_lockup', 'line', /^BUG: workqueue lockup/, fixed('BUG: workqueue lockup')),
];

/** The allocators' functions: whoever called them owns what leaked. */
const ALLOCATORS =
  /kmemleak|alloc|mmap|kmem|slab|create_object|idr_get|list_lru_init|kasprintf|kvasprintf|pcpu_create|strn?dup|memdup/;

const MEMORY_PATTERNS: readonly ReportPattern[] = [
  crash(
    'list_corruption',
    'end-trace',
    /^(?:list_add|list_del) (?:corruption|double add)|^slab: double free detected/,
    at('BUG: corrupted list', calling),
  ),
  crash(
    'use_after_free',
    'end-trace',
    /^refcount_t: [\w -]{1,40}[;.]/,
    at('WARNING: refcount bug', callingBesides(/refcount|kobject_/)),
  ),
  crash(
    'use_after_free',
    'end-trace',
    /^ODEBUG: .{1,80} object(?: type)?: /,
    at(
      'WARNING: ODEBUG bug',
      callingBesides(/debug_|rcu|hrtimer_|timer_|work_|percpu_|kmem_|slab_|kfree|vunmap|vfree|__free_|kobject_/),
    ),
  ),
  crash('page_state', 'trace', /^BUG: Bad page (?:state|map|cache)/, (match, body) =>
    within(match[0], callingBesides(/free_|page/)(body)),
  ),
  crash('page_state', 'line', /^BUG: Bad rss-counter state/, fixed('BUG: Bad rss-counter state')),
  crash('page_state', 'line', /^BUG: (non-zero \w{1,32} on freeing mm)/, (match) => `BUG: ${group(match, 1)}`),
  crash(
    'use_after_free',
    'trace',
    /^BUG (\S{1,60}) \((?:Not tainted|Tainted)[^)]{0,80}\): ([\w -]{1,60})/,
    (match, body) => within(`BUG: ${group(match, 2)}`, calling(body)),
  ),
  // The object's history, in a SLUB or KASAN report whose first line the log has lost.
  crash(
    'use_after_free',
    'trace',
    /^(?:INFO: Allocated|INFO: Freed|Allocated|Freed) in ([A-Za-z_][\w.$]{0,120})(?:\+0x[0-9a-f]{1,8}\/0x[0-9a-f]{1,8})?(?: \[\w{1,64}\])? age=\d{1,20} cpu=\d{1,5} pid=-?\d{1,10}/,
    (match) => `INFO: ${/Allocated|Freed/.exec(match[0])?.[0] ?? ''} in ${baseFunction(group(match, 1))}`,
    { isFragment: true },
  ),
  crash('use_after_free', 'line', /^VFS: Busy inodes after unmount/, fixed('VFS: Busy inodes after unmount')),
  crash(
    'memory_leak',
    'trace',
    /^(?:kmemleak: )?unreferenced object 0x[0-9a-f]+ \(size \d+\)|^BUG: memory leak/,
    at('memory leak', callingBesides(ALLOCATORS)),
  ),
  crash(
    'device_leak',
    'line',
    /^unregister_netdevice: waiting for \S+ to become free/,
    fixed('unregister_netdevice: waiting for DEV to become free'),
  ),
  crash(
    'bug',
    'trace',
    /^BUG: Dentry .{1,160}still in use \(-?\d+\) \[unmount of ([^\]]{1,60})\]/,
    (match) => `BUG: Dentry still in use [unmount of ${group(match, 1)}]`,
  ),
];

const GENERAL_PATTERNS: readonly ReportPattern[] = [
  crash('kernel_bug', 'end-trace', /^[Kk]ernel BUG at (\S+)/, kernelBugTitle),
  crash('warning', 'end-trace', /^WARNING: (?:CPU: \d+ PID: \d+ )?at (\S{1,200})/, warningTitle),
  crash('warning', 'end-trace', /^WARNING: (\S{1,200}:\d+) at \S+/, warningTitle),
  crash(
    'warning',
    'line',
    /^WARNING: kernel stack (regs|frame pointer) at \S+ in .{1,64} has bad (?:'\w+' )?value/,
    (match) => `WARNING: kernel stack ${group(match, 1)} has bad value`,
  ),
  crash(
    'bug',
    'trace',
    /^BUG: (\S.{0,160})$/,
    (match, body) => within(`BUG: ${stable(group(match, 1))}`, calling(body)),
    { needsStack: true },
  ),
  // Subsystems put their name before what they print.
  crash(
    'bug',
    'trace',
    /^[A-Za-z][\w-]{0,31}: BUG: (\S.{0,160})$/,
    (match, body) => within(`BUG: ${stable(group(match, 1))}`, calling(body)),
    { needsStack: true },
  ),
];

/** Ordered: the first whose `start` matches a line takes it, so the general forms come after the particular ones. */
export const REPORT_PATTERNS: readonly ReportPattern[] = [
  crash('panic', 'end-panic', /^Kernel panic - not syncing(?:: ?(.{0,300}))?/, panicTitle),
  ...SANITIZER_PATTERNS,
  ...LOCKUP_PATTERNS,
  ...TRAP_PATTERNS,
  ...MEMORY_PATTERNS,
  ...LOCK_PATTERNS,
  ...GENERAL_PATTERNS,
  ...TROUBLE_PATTERNS,
];

/**
 * One of these words stands in every first line of a report. Nearly every line of a log has none, and is not compared with
 * the patterns one by one.
 */
const OPENING_WORDS = new RegExp(
  [
    'BUG|WARNING|INFO|UBSAN|ODEBUG|Kernel panic|LOCKUP|Unable to handle|Oops|Internal error|general protection',
    'divide error|stack segment|segment not present|invalid TSS|bounds|int3|overflow|alignment check|exception',
    'debug|control protection|#V|double fault|invalid opcode|Insufficient stack|CFI failure|SError|Bad mode|Unhandled',
    'list_add|list_del|double free|refcount_t|unreferenced object|unregister_netdevice|Busy inodes',
    'allocation|vmalloc|oom-killer|ut of memory|\\[1\\]|EXT[234]-fs|XFS|BTRFS|F2FS|FAT-fs|SQUASHFS|EROFS|erofs',
    'UBIFS|JFFS2|OCFS2|NILFS|JBD|[Jj]ournal|error|I/O|nvme|ata\\d|md/raid|Hardware Error|mce|Machine check|MCE',
    'Memory failure|EDAC|pcieport| by task | age=\\d| ilc:\\d',
  ].join('|'),
  'i',
);

/** True when the message may be the first of a report. */
export const mayOpenReport = (text: string): boolean => OPENING_WORDS.test(text);

/** A pattern that begins with one of several words, in a group. */
const LEADING_WORDS = /^\^\((?:\?:)?([A-Za-z][\w: ]*(?:\|[A-Za-z][\w: ]*)+)\)(?![*?{])/;

/** The letters that a pattern can begin with; null when its source does not tell them at once. */
function firstLetters({ start: { source, flags } }: ReportPattern): string | null {
  if (flags !== '' || source.includes('|^')) return null;
  const words = LEADING_WORDS.exec(source)?.[1]?.split('|');
  return words?.map((word) => word.charAt(0)).join('') ?? /^\^([A-Za-z])(?![*?{])/.exec(source)?.[1] ?? null;
}

const BY_LETTER = new Map<string, readonly ReportPattern[]>();

/** Those of `REPORT_PATTERNS` that a message with this first letter can match, in their order. */
export function patternsFor(text: string): readonly ReportPattern[] {
  const letter = text.charAt(0);
  const known = BY_LETTER.get(letter);
  if (known !== undefined) return known;
  const patterns = REPORT_PATTERNS.filter((pattern) => firstLetters(pattern)?.includes(letter) ?? true);
  BY_LETTER.set(letter, patterns);
  return patterns;
}
