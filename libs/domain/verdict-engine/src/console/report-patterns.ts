import type { ConsoleClass, ReportEnd, Severity } from './report';
import {
  at,
  calling,
  dataRaceTitle,
  faulting,
  fixed,
  group,
  kasanTitle,
  named,
  panicTitle,
  specific,
  stable,
  warningTitle,
  within,
  type MakeTitle,
} from './report-titles';

/**
 * How one family of reports begins. Wordings are those of the kernel's own sources (x86, arm64, 4.x to 6.x); titles follow
 * the convention that kernel fuzzing dashboards use, so that they can be searched for.
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
}

const crash = (reportClass: ConsoleClass, end: ReportEnd, start: RegExp, title: MakeTitle): ReportPattern => ({
  class: reportClass,
  severity: 'crash',
  end,
  start,
  title,
});

const trouble = (reportClass: ConsoleClass, end: ReportEnd, start: RegExp, title: MakeTitle): ReportPattern => ({
  class: reportClass,
  severity: 'trouble',
  end,
  start,
  title,
});

const lockdep = (start: RegExp, text: string): ReportPattern =>
  crash('lockdep', 'trace', start, (_, body) =>
    within(text, specific([body.acquiring]) ?? calling(body) ?? body.acquiring),
  );

/** Ordered: the first whose `start` matches a line takes it, so the general forms come after the particular ones. */
export const REPORT_PATTERNS: readonly ReportPattern[] = [
  crash('panic', 'end-panic', /^Kernel panic - not syncing: ?(.{0,300})/, panicTitle),
  crash(
    'double_fault',
    'end-trace',
    /^(?:PANIC: double fault|double fault:|traps: PANIC: double fault)/,
    at('PANIC: double fault', faulting),
  ),

  // Sanitizers
  crash('kasan', 'rule', /^BUG: KASAN: ([\w -]{1,60}?)(?: in .*| on address.*)?$/, kasanTitle),
  crash('kfence', 'rule', /^BUG: KFENCE: ([\w -]{1,60}?)(?: in .*)?$/, (match, body) =>
    within(`KFENCE: ${group(match, 1).replace(/ (?:read|write)$/, '')}`, named(body)),
  ),
  crash('kcsan', 'rule', /^BUG: KCSAN: data-race in (.{1,200})$/, dataRaceTitle),
  crash('kcsan', 'rule', /^BUG: KCSAN: ([\w -]{1,60}?)(?: in .*)?$/, (match, body) =>
    within(`KCSAN: ${group(match, 1)}`, named(body)),
  ),
  crash('kmsan', 'rule', /^BUG: KMSAN: ([\w -]{1,60}?)(?: in .*)?$/, (match, body) =>
    within(`KMSAN: ${group(match, 1)}`, named(body)),
  ),
  crash('ubsan', 'rule', /^UBSAN: ([\w -]{1,60}?) in \S+/, (match, body) =>
    within(`UBSAN: ${group(match, 1)}`, calling(body)),
  ),
  crash('ubsan', 'rule', /^UBSAN: Undefined behaviour in \S+/, at('UBSAN: Undefined behaviour', calling)),

  // Lockups and stalls
  crash('soft_lockup', 'trace', /^(?:NMI )?(?:watchdog: )?BUG: soft lockup - /, at('BUG: soft lockup', faulting)),
  crash(
    'hard_lockup',
    'trace',
    /^(?:NMI )?(?:watchdog: )?Watchdog detected hard LOCKUP/,
    at('BUG: hard lockup', faulting),
  ),
  crash(
    'hung_task',
    'trace',
    /^INFO: task \S{1,64} blocked (?:in I\/O wait )?for more than \d+ seconds/,
    at('INFO: task hung', calling),
  ),
  crash(
    'rcu_stall',
    'trace',
    /^(?:rcu: )?INFO: rcu_\w+ (?:self-)?detected(?: expedited)? stalls?/,
    at('INFO: rcu detected stall', faulting),
  ),
  crash('workqueue_lockup', 'line', /^BUG: workqueue lockup/, fixed('BUG: workqueue lockup')),

  // Traps
  crash(
    'null_dereference',
    'end-trace',
    /^(?:BUG: (?:unable to handle )?kernel NULL pointer dereference|Unable to handle kernel NULL pointer dereference)/,
    at('BUG: unable to handle kernel NULL pointer dereference', faulting),
  ),
  crash(
    'paging_request',
    'end-trace',
    /^(?:BUG: unable to handle (?:page fault for address|kernel paging request)|Unable to handle kernel paging request)/,
    at('BUG: unable to handle kernel paging request', faulting),
  ),
  crash(
    'paging_request',
    'end-trace',
    /^Unable to handle kernel access to user memory/,
    at('BUG: unable to handle kernel access to user memory', faulting),
  ),
  crash(
    'paging_request',
    'end-trace',
    /^Unable to handle kernel \w+ at virtual address/,
    at('BUG: unable to handle kernel paging request', faulting),
  ),
  crash(
    'general_protection',
    'end-trace',
    /^(?:Oops: )?general protection fault[:,]/,
    at('general protection fault', faulting),
  ),
  crash('divide_error', 'end-trace', /^(?:Oops: )?divide error: /, at('divide error', faulting)),
  crash(
    'oops',
    'end-trace',
    /^BUG: TASK stack guard page was hit|^BUG: stack guard page was hit|^kernel stack overflow|^Insufficient stack space to handle exception/,
    at('BUG: stack guard page was hit', faulting),
  ),

  // Lists, counters, allocator
  crash(
    'list_corruption',
    'end-trace',
    /^(?:list_add|list_del) (?:corruption|double add)|^slab: double free detected/,
    at('BUG: corrupted list', calling),
  ),
  crash('use_after_free', 'end-trace', /^refcount_t: [\w -]{1,40}[;.]/, at('WARNING: refcount bug', calling)),
  crash('use_after_free', 'end-trace', /^ODEBUG: /, at('WARNING: ODEBUG bug', calling)),
  crash('page_state', 'trace', /^BUG: Bad page (?:state|map|cache)/, (match, body) => within(match[0], calling(body))),
  crash('page_state', 'line', /^BUG: Bad rss-counter state/, fixed('BUG: Bad rss-counter state')),
  crash(
    'use_after_free',
    'trace',
    /^BUG (\S{1,60}) \((?:Not tainted|Tainted)[^)]{0,80}\): ([\w -]{1,60})/,
    (match, body) => within(`BUG: ${group(match, 2)}`, calling(body)),
  ),
  crash('memory_leak', 'trace', /^unreferenced object 0x[0-9a-f]+ \(size \d+\)/, at('memory leak', calling)),
  crash(
    'device_leak',
    'line',
    /^unregister_netdevice: waiting for \S+ to become free/,
    fixed('unregister_netdevice: waiting for DEV to become free'),
  ),

  // Locking and context
  lockdep(
    /^(?:WARNING: |\[? ?INFO: )possible (?:circular locking dependency|recursive locking|irq lock inversion dependency) detected/,
    'possible deadlock',
  ),
  lockdep(
    /^(?:WARNING: |\[? ?INFO: )(?:SOFTIRQ|HARDIRQ|RECLAIM_FS)\S* ?-> ?(?:SOFTIRQ|HARDIRQ|RECLAIM_FS)\S* lock order detected/,
    'possible deadlock',
  ),
  lockdep(/^(?:WARNING: |\[? ?INFO: )inconsistent lock state/, 'inconsistent lock state'),
  lockdep(/^(?:WARNING: |\[? ?(?:INFO|BUG): )bad unlock balance detected/, 'WARNING: bad unlock balance'),
  lockdep(
    /^(?:\[ )?(?:WARNING|BUG): (?:held lock freed|Invalid wait context|lock held when returning to user space)/,
    'WARNING: locking bug',
  ),
  lockdep(/^\[ BUG: Invalid wait context \]/, 'WARNING: locking bug'),
  lockdep(/^INFO: trying to register non-static key/, 'INFO: trying to register non-static key'),
  crash(
    'rcu_usage',
    'trace',
    /^(?:WARNING: |\[? ?INFO: )suspicious RCU usage/,
    at('WARNING: suspicious RCU usage', calling),
  ),
  crash(
    'sleeping_in_atomic',
    'trace',
    /^BUG: sleeping function called from invalid context/,
    at('BUG: sleeping function called from invalid context', calling),
  ),
  crash('sleeping_in_atomic', 'trace', /^BUG: scheduling while atomic/, at('BUG: scheduling while atomic', calling)),
  crash('bug', 'trace', /^BUG: using (__this_cpu_\w+|smp_processor_id)\(\) in preemptible/, (match, body) =>
    within(`BUG: using ${group(match, 1)}() in preemptible code`, calling(body)),
  ),
  crash('bug', 'trace', /^BUG: spinlock ([\w ]{1,40}?) on CPU/, (match, body) =>
    within(`BUG: spinlock ${group(match, 1)}`, calling(body)),
  ),

  // The general forms
  crash('kernel_bug', 'end-trace', /^kernel BUG at \S+/, at('kernel BUG', faulting)),
  crash('warning', 'end-trace', /^WARNING: CPU: \d+ PID: \d+ at (\S{1,200})/, warningTitle),
  crash('warning', 'end-trace', /^WARNING: (\S{1,200}:\d+) at \S+/, warningTitle),
  { ...crash('oops', 'end-trace', /^(?:Oops: )?invalid opcode: /, at('invalid opcode', faulting)), onlyAlone: true },
  {
    ...crash('oops', 'end-trace', /^(?:Oops: |Oops - |Internal error: )([\w -]{1,60})/, at('kernel oops', faulting)),
    onlyAlone: true,
  },
  crash('bug', 'trace', /^BUG: (\S.{0,160})$/, (match, body) =>
    within(`BUG: ${stable(group(match, 1))}`, calling(body)),
  ),

  // Trouble that the kernel copes with
  trouble(
    'page_allocation_failure',
    'trace',
    /^\S{1,64}: page allocation failure: order:\d+/,
    at('page allocation failure', calling),
  ),
  trouble(
    'oom_kill',
    'line',
    /^(?:Out of memory|Memory cgroup out of memory): Kill(?:ed)? process \d+ \(([^)]{1,32})\)/,
    (match) => `Out of memory: killed ${group(match, 1)}`,
  ),
  trouble(
    'init_died',
    'line',
    /^(?:traps: )?[\w./-]{1,32}\[1\]:? (?:segfault at|general protection|trap )/,
    fixed('init crashed'),
  ),
  trouble('init_died', 'line', /^systemd\[1\]: (?:Caught <\w+>|Freezing execution)/, fixed('init crashed')),
  trouble(
    'filesystem_error',
    'line',
    /^(EXT[234]-fs|XFS|BTRFS|F2FS-fs|FAT-fs|SQUASHFS|EROFS)(?::? ?\(\S+\))?:? ?(?:error|critical|warning \(device \S+\): ext4_end_bio|Remounting filesystem read-only|\(?\S*\)?:? ?(?:Metadata )?[Cc]orruption)/,
    (match) => `${group(match, 1)} error`,
  ),
  trouble(
    'filesystem_error',
    'line',
    /^(?:JBD2: Detected IO errors|Aborting journal on device)/,
    fixed('journal aborted or damaged'),
  ),
  trouble(
    'block_error',
    'line',
    /^(?:blk_update_request: |print_req_error: |end_request: )?(?:\w+ )?I\/O error, dev (?!fd\d|sr\d)(\w{1,32})/,
    (match) => `I/O error on ${group(match, 1)}`,
  ),
  trouble(
    'block_error',
    'line',
    /^Buffer I\/O error on dev(?:ice)? (?!fd\d|sr\d)(\w{1,32})/,
    (match) => `I/O error on ${group(match, 1)}`,
  ),
  trouble(
    'machine_check',
    'line',
    /^(?:mce: )?\[Hardware Error\]: (?:CPU \d+: Machine Check|Machine check|event severity: (?:fatal|recoverable))/i,
    fixed('machine check'),
  ),
  trouble('machine_check', 'line', /^mce: (?:CPU\d+: )?Machine check/i, fixed('machine check')),
];
