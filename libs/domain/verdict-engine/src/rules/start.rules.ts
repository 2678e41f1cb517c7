import { printable } from '../citation';
import { agentPortChange, type CaseFacts } from '../facts/case-facts';
import { citeMeta } from '../facts/host-facts';
import { lastEvent } from '../facts/qmp-facts';
import { present, type Rule } from './rule';

const firstLine = (text: string): string => printable(text.trim().split('\n', 1)[0] ?? '', 160);

/** The guest was let run: QEMU starts stopped (`-S`), so the first event of a machine that started is RESUME. */
const ranUnderQemu = (facts: CaseFacts): boolean => lastEvent(facts.qmp, 'RESUME') !== null;

/** The VMM gave up before the guest's first instruction: bad argument, locked or missing disk, no memory. */
export const vmmRefusedToStart: Rule = {
  name: 'vmm_refused_to_start',
  find: (facts) => {
    const { exit, evidence, serial } = facts;
    if (exit === null || exit.code === null || exit.code === 0 || serial.spoke || ranUnderQemu(facts)) return null;
    const said = firstLine(evidence.meta.stderrTail);
    return {
      class: 'never_booted',
      confidence: said === '' ? 'likely' : 'certain',
      account: `The VMM exited with status ${exit.code} before the guest ran${said === '' ? '.' : `: ${said}`}`,
      deciding: present(citeMeta(evidence, 'exit'), said === '' ? null : citeMeta(evidence, 'stderrTail')),
      blame: 'host',
      ended: true,
      readsConsole: true,
    };
  },
};

function silentAccount(spoke: boolean, isClone: boolean): string {
  if (isClone) return 'The clone never came to life: its agent never answered, and its kernel said nothing.';
  return spoke
    ? 'No kernel started: the console shows only firmware, and the agent never answered.'
    : 'No kernel started: the console stayed empty and the agent never answered.';
}

/** The VMM ran, but no kernel spoke and no agent ever answered. */
export const nothingEverSpoke: Rule = {
  name: 'nothing_ever_spoke',
  find: (facts) => {
    const { exit, serial, lastPong, firstSilence, evidence } = facts;
    if (serial.boots > 0 || lastPong !== null || firstSilence === null || agentPortChange(facts) !== null) return null;
    return {
      class: 'never_booted',
      confidence: 'likely',
      account: silentAccount(serial.spoke, evidence.meta.origin === 'clone'),
      deciding: [firstSilence.citation],
      contributing: present(serial.lastLine),
      blame: 'host',
      ended: exit !== null,
      readsConsole: true,
    };
  },
};
