import { printable } from '../citation';
import { answeredAfter, endingAction, outlived, type CaseFacts } from '../facts/case-facts';
import { dataString, lastEvent, resumedAfter, type QmpEvent } from '../facts/qmp-facts';
import type { ConsoleMark, SerialFacts } from '../facts/serial-facts';
import { present, type Rule } from './rule';

/** The panic that the console shows, unless a later boot came to another end or the agent outlived it. */
export function standingPanic(facts: CaseFacts): ConsoleMark | null {
  const panic = facts.serial.marks.findLast((mark) => mark.kind === 'panic');
  if (panic === undefined || outlived(facts, panic)) return null;
  return panic.boot < facts.serial.boots && endedOtherwise(facts) ? null : panic;
}

/** The machine ended in a way that no panic brings about: powered off, halted, or ended by the host. */
function endedOtherwise(facts: CaseFacts): boolean {
  const { shutdown, serial, exit } = facts;
  if (shutdown !== null && !CONSEQUENCES.includes(dataString(shutdown, 'reason'))) return true;
  if (shutdown === null && exit !== null && endingAction(facts, exit.atMs) !== null) return true;
  return serial.marks.some(({ kind, boot }) => boot >= serial.boots && (kind === 'power_down' || kind === 'halted'));
}

/** Reasons of the SHUTDOWN that a panic leads to. */
const CONSEQUENCES: readonly string[] = ['guest-reset', 'guest-panic'];

/** pvpanic's event, unless the guest went on as if nothing had been: root can write to that port, too. */
function standingPanicEvent(facts: CaseFacts): QmpEvent | null {
  const event = lastEvent(facts.qmp, 'GUEST_PANICKED');
  if (event === null || resumedAfter(facts.qmp, event)) return null;
  const restarted = facts.qmp.events.some(({ name, atMs }) => name === 'RESET' && atMs > event.atMs);
  const refuted = restarted ? endedOtherwise(facts) : answeredAfter(facts, event.atMs);
  return refuted ? null : event;
}

/** Why the kernel panicked: the first crash it reported in that boot, usually the oops before the panic. */
function cause(serial: SerialFacts, panic: ConsoleMark | null) {
  const boot = panic?.boot ?? serial.boots;
  return serial.reports.find((report) => report.severity === 'crash' && report.boot === boot) ?? null;
}

function panicAccount(facts: CaseFacts, panic: ConsoleMark | null): string {
  const { serial } = facts;
  const first = cause(serial, panic);
  const why = first === null ? '' : ` (${printable(first.title, 120)})`;
  const again = panic !== null && panic.boot < serial.boots ? ` in boot ${panic.boot} and started again` : '';
  const cut = first?.truncated === true ? '; its report is cut off' : '';
  return `The guest's kernel panicked${again}${why}${cut}.`;
}

/** The hypervisor saw the panic: pvpanic's event, QEMU's `guest-panicked` status, or a shutdown for that reason. */
export const panicSeenByVmm: Rule = {
  name: 'panic_seen_by_vmm',
  find: (facts) => {
    const { qmp, status, exit, serial } = facts;
    const event = standingPanicEvent(facts);
    const shutdown = lastEvent(qmp, 'SHUTDOWN', (e) => dataString(e, 'reason') === 'guest-panic');
    const stopped = exit === null && status?.status === 'guest-panicked' ? status : null;
    if (event === null && shutdown === null && stopped === null) return null;
    const panic = standingPanic(facts);
    return {
      class: 'panicked',
      confidence: 'certain',
      account: panicAccount(facts, panic),
      deciding: present(event?.citation, shutdown?.citation, stopped?.citation, panic?.citation),
      contributing: present(cause(serial, panic)?.citation, facts.shutdown?.citation),
      blame: 'guest',
      ended: exit !== null || stopped !== null || facts.shutdown !== null,
      readsConsole: false,
    };
  },
};

/** Only the console tells: `panic=0` gives no event at all, and `panic=N` looks like a reset of the guest. */
export const panicOnConsole: Rule = {
  name: 'panic_on_console',
  find: (facts) => {
    const panic = standingPanic(facts);
    if (panic === null) return null;
    const { exit, serial, shutdown } = facts;
    return {
      class: 'panicked',
      confidence: 'likely',
      account: panicAccount(facts, panic),
      deciding: [panic.citation],
      contributing: present(
        cause(serial, panic)?.citation,
        lastEvent(facts.qmp, 'WATCHDOG')?.citation,
        shutdown?.citation,
        facts.firstSilence?.citation,
      ),
      blame: 'guest',
      ended: exit !== null || shutdown !== null || panic.boot >= serial.boots,
      readsConsole: true,
    };
  },
};
