import { answeredAfter, markOfLastBoot, outlived, type CaseFacts } from '../facts/case-facts';
import { dataString, type QmpEvent, type QmpFacts } from '../facts/qmp-facts';
import type { ConsoleMark } from '../facts/serial-facts';
import { present, type Finding, type Rule } from './rule';

/** Boots of one incarnation from which on resets are a loop: once is a reboot, twice an installer. */
export const RESET_LOOP_BOOTS = 3;

/** One reset gives two to nine RESET events, for firmware resets again; measured on QEMU 7.2 within 150 ms. */
const RESET_BURST_MS = 1000;

/** The first event of each burst of RESETs: its `guest` tells who began. */
function resetBursts(qmp: QmpFacts): readonly QmpEvent[] {
  const bursts: QmpEvent[] = [];
  let previousMs = -Infinity;
  for (const event of qmp.events) {
    if (event.name !== 'RESET') continue;
    if (event.atMs - previousMs > RESET_BURST_MS) bursts.push(event);
    previousMs = event.atMs;
  }
  return bursts;
}

/** Boots that the host asked for do not count towards a loop. */
const ownBoots = ({ serial, qmp }: CaseFacts): number =>
  serial.boots - resetBursts(qmp).filter((burst) => burst.data['guest'] === false).length;

/** What the kernel, or the SysRq key, said just before a reset, in any boot. */
const resetWords = ({ serial }: CaseFacts): ConsoleMark | null =>
  serial.marks.findLast(({ kind }) => kind === 'restarting' || kind === 'sysrq_reset') ?? null;

function guestReset(facts: CaseFacts, event: QmpEvent | null, words: ConsoleMark | null, ended: boolean): Finding {
  const boots = ownBoots(facts);
  const loop = boots >= RESET_LOOP_BOOTS;
  const how = words === null ? ', without a word of its kernel: a reset or a triple fault' : '';
  const after = ended ? '' : '; the machine runs on';
  return {
    class: loop ? 'reset_loop' : 'guest_reset',
    confidence: words !== null && event !== null ? 'certain' : 'likely',
    account: loop
      ? `The guest resets itself again and again: ${boots} boots were seen${after}.`
      : `The guest reset itself${how}${after}.`,
    deciding: present(event?.citation, words?.citation),
    contributing: present(markOfLastBoot(facts, 'init_stopping')?.citation, facts.lastPong?.citation),
    blame: 'guest',
    ended,
    readsConsole: true,
  };
}

/** The VMM runs with -no-reboot: a reset of the guest ends it. */
export const guestResetEnded: Rule = {
  name: 'guest_reset_ended',
  find: (facts) => {
    const { shutdown } = facts;
    if (shutdown === null || dataString(shutdown, 'reason') !== 'guest-reset') return null;
    const words = markOfLastBoot(facts, 'restarting') ?? markOfLastBoot(facts, 'sysrq_reset');
    return guestReset(facts, shutdown, words, true);
  },
};

/** The VMM lets guests reset: the machine lives on in another boot. */
export const guestResetLived: Rule = {
  name: 'guest_reset_lived',
  find: (facts) => {
    if (facts.exit !== null || facts.shutdown !== null) return null;
    const burst = resetBursts(facts.qmp).at(-1);
    if (burst === undefined || burst.data['guest'] === false) return null;
    // Silence after a boot that had answered is another matter than the reset before it.
    if (facts.firstSilence !== null && answeredAfter(facts, burst.atMs)) return null;
    return guestReset(facts, burst, resetWords(facts), false);
  },
};

/** No event says so, but the kernel's last words are that it restarts. */
export const restartOnConsole: Rule = {
  name: 'restart_on_console',
  find: (facts) => {
    const words = markOfLastBoot(facts, 'restarting') ?? markOfLastBoot(facts, 'sysrq_reset');
    if (words === null || outlived(facts, words)) return null;
    return { ...guestReset(facts, null, words, true), confidence: 'weak' };
  },
};
