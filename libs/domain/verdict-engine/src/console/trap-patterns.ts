import { crash, type ReportPattern } from './report-pattern';
import { at, faulting, group, within } from './report-titles';

/** Names of x86 exceptions as die() prints them (arch/x86/kernel/traps.c), and what titles make of them. */
const X86_TRAP =
  /^(?:Oops: )?(stack segment|segment not present|invalid TSS|bounds|int3|overflow|alignment check|coprocessor segment overrun|simd exception|fpu exception|debug|control protection|unexpected #VE|#VC in interrupt context): (?:[0-9a-f]{4} )?\[#\d{1,6}\]/;

/** What the processor refused to do: page faults, protection faults, undefined instructions. */
export const TRAP_PATTERNS: readonly ReportPattern[] = [
  crash(
    'double_fault',
    'end-trace',
    /^(?:traps: )?(?:PANIC: double fault|(?:Oops: )?double fault:)/,
    at('PANIC: double fault', faulting),
  ),
  crash(
    'null_dereference',
    'end-trace',
    /^(?:BUG: (?:unable to handle )?[Kk]ernel NULL pointer dereference|(?:CPU \d+ )?Unable to handle kernel NULL pointer dereference)/,
    at('BUG: unable to handle kernel NULL pointer dereference', faulting),
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
    /^(?:BUG: [Uu]nable to handle |(?:CPU \d+ )?Unable to handle kernel (?:paging request|pointer dereference|.{1,60} at virtual address))/,
    at('BUG: unable to handle kernel paging request', faulting),
  ),
  crash(
    'general_protection',
    'end-trace',
    /^(?:Oops: )?general protection fault(?:[:,]|$)/,
    at('general protection fault', faulting),
  ),
  crash('divide_error', 'end-trace', /^(?:Oops: )?divide error: /, at('divide error', faulting)),
  crash('oops', 'end-trace', /^(?:Oops: )?stack segment: /, at('stack segment fault', faulting)),
  crash('oops', 'end-trace', X86_TRAP, (match, body) => within(group(match, 1), faulting(body))),
  crash(
    'oops',
    'end-trace',
    /^(?:BUG: (?:TASK |IRQ )?stack guard page was hit|Insufficient stack space to handle exception)/,
    at('BUG: stack guard page was hit', faulting),
  ),
  crash('oops', 'end-trace', /^kernel stack overflow/, at('BUG: stack guard page was hit', faulting), {
    onlyAlone: true,
  }),
  crash('oops', 'end-trace', /^CFI failure (?:at |\()/, at('CFI failure', faulting)),
  crash(
    'oops',
    'end-trace',
    /^(?:SError Interrupt on CPU\d|Bad mode in .{1,60} detected)/,
    at('SError Interrupt', faulting),
  ),
  crash('oops', 'end-trace', /^Unhandled (?:prefetch abort|fault): /, at('Unhandled fault', faulting)),

  // What die() prints, under the trap's own line or alone.
  crash('oops', 'end-trace', /^(?:Oops: )?invalid opcode: /, at('invalid opcode', faulting), { onlyAlone: true }),
  crash(
    'oops',
    'end-trace',
    /^(?:Oops|Internal error)(?:: | - | )?.{0,120}?\[#\d{1,6}\]/,
    at('kernel oops', faulting),
    { onlyAlone: true },
  ),
  // Program interruptions of s390 (arch/s390/kernel/traps.c), with the code and the instruction's length.
  crash(
    'oops',
    'end-trace',
    /^(illegal operation|privileged operation|addressing exception|execute exception|operand exception|specification exception|special operation exception|data exception|fixpoint divide exception|transaction constraint exception|space switch event|monitor event): [0-9a-f]{4} ilc:\d \[#\d{1,6}\]/,
    at('kernel oops', faulting),
    { onlyAlone: true },
  ),
];
