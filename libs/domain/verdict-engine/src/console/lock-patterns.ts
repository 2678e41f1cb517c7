import { crash, type ReportPattern } from './report-pattern';
import { at, calling, callingBesides, group, locking, within } from './report-titles';

const lockdep = (start: RegExp, text: string): ReportPattern => crash('lockdep', 'trace', start, at(text, locking));

/** Reports of the lock validator and of the checks of context. Before 4.14 they stood in brackets, as `[ INFO: ... ]`. */
export const LOCK_PATTERNS: readonly ReportPattern[] = [
  lockdep(
    /^(?:WARNING: |\[? ?INFO: )possible (?:circular locking dependency|recursive locking|irq lock inversion dependency) detected/,
    'possible deadlock',
  ),
  lockdep(
    /^(?:WARNING: |\[? ?INFO: )(?:SOFTIRQ|HARDIRQ|RECLAIM_FS)\S* ?-> ?(?:SOFTIRQ|HARDIRQ|RECLAIM_FS)\S* lock order detected/,
    'possible deadlock',
  ),
  lockdep(/^(?:WARNING: |\[? ?INFO: )inconsistent lock state/, 'inconsistent lock state'),
  lockdep(
    /^(?:WARNING: |\[? ?(?:INFO|BUG): )bad (?:unlock balance|contention) detected/,
    'WARNING: bad unlock balance',
  ),
  lockdep(/^(?:\[ )?(?:WARNING|BUG): held lock freed/, 'WARNING: held lock freed'),
  lockdep(/^(?:\[ )?(?:WARNING|BUG): [Nn]ested lock was not taken/, 'WARNING: nested lock was not taken'),
  lockdep(/^(?:\[ )?(?:WARNING|BUG): Invalid wait context/, 'BUG: Invalid wait context'),
  lockdep(/^(?:\[ )?(?:WARNING|BUG): \S{1,64} still has locks held!/, 'BUG: still has locks held'),
  crash(
    'lockdep',
    'held',
    /^(?:\[ )?(WARNING|BUG): lock held (?:when returning to user space|at task exit time)/,
    (match, body) => within(`${group(match, 1)}: lock held when returning to user space`, locking(body)),
  ),
  crash(
    'lockdep',
    'trace',
    /^INFO: trying to register non-static key/,
    at('INFO: trying to register non-static key', callingBesides(/stack|lock|IRQ/)),
  ),
  crash(
    'rcu_usage',
    'trace',
    /^(?:WARNING: |\[? ?INFO: )suspicious (?:RCU|rcu_dereference_\w{1,32}\(\)) usage/,
    at('WARNING: suspicious RCU usage', callingBesides(/rcu|kmem|slab|kmalloc|vmalloc|kcalloc|kzalloc/)),
  ),
  crash(
    'sleeping_in_atomic',
    'trace',
    /^BUG: sleeping function called from invalid context/,
    at('BUG: sleeping function called from invalid context', calling),
  ),
  crash('sleeping_in_atomic', 'trace', /^BUG: (assuming (?:atomic|non migratable) context) at /, (match, body) =>
    within(`BUG: ${group(match, 1)}`, calling(body)),
  ),
  crash('sleeping_in_atomic', 'trace', /^BUG: scheduling while atomic/, at('BUG: scheduling while atomic', calling)),
  crash('bug', 'trace', /^BUG: using (__this_cpu_\w+|smp_processor_id)\(\) in preemptible/, (match, body) =>
    within(
      `BUG: using ${group(match, 1)}() in preemptible code`,
      callingBesides(/preempt|debug_|processor_id|this_cpu/)(body),
    ),
  ),
  crash('bug', 'trace', /^BUG: ((?:spin|rw)lock [\w -]{1,40}?) on CPU/, (match, body) =>
    within(`BUG: ${group(match, 1)}`, callingBesides(/spin_|rwlock_/)(body)),
  ),
  crash('lockdep', 'trace', /^BUG: (MAX_\w{1,40} too low!)/, (match) => `BUG: ${group(match, 1)}`),
  crash('bug', 'line', /^BUG: workqueue leaked (?:lock or atomic|atomic, lock or RCU)/, (match, body) =>
    within(match[0], calling(body)),
  ),
];
