import type { Citation } from '../citation';
import { markOfLastBoot, outlived, type CaseFacts } from '../facts/case-facts';
import { probesOf } from '../facts/host-facts';
import { dataString, lastEvent } from '../facts/qmp-facts';
import type { ConsoleMark } from '../facts/serial-facts';
import type { Confidence } from '../verdict';
import { present, type Finding, type Rule } from './rule';

/** Who saw init stop the system before the power went. */
export interface InitWitness {
  readonly agent: Citation | null;
  readonly console: Citation | null;
}

/** The agent's word and init's lines, of the boot that ended; null when nobody saw init. */
export function initWitness(facts: CaseFacts): InitWitness | null {
  const agent = agentWitness(facts);
  const console = markOfLastBoot(facts, 'init_stopping')?.citation ?? null;
  return agent === null && console === null ? null : { agent, console };
}

function agentWitness(facts: CaseFacts): Citation | null {
  const bootedAtMs = lastEvent(facts.qmp, 'RESET')?.atMs ?? -Infinity;
  const words = probesOf(facts.probes, 'agent').filter((word) => word.atMs >= bootedAtMs);
  const stopping = words.findLast((word) => word.initStopping);
  if (stopping !== undefined) return stopping.citation;
  // A root that was read-only all along says nothing about init.
  const remounted = words.length === 1 || words[0]?.rootReadonly === false;
  return remounted ? (words.findLast((word) => word.rootReadonly)?.citation ?? null) : null;
}

/** The kernel powered down and init was seen to stop the system first. */
export function cleanPoweroff(facts: CaseFacts, powerDown: ConsoleMark, witness: InitWitness): Finding {
  const stop = facts.shutdown?.citation ?? null;
  // Any program can print init's lines; the agent's word takes the agent.
  const confidence: Confidence = stop !== null && witness.agent !== null ? 'certain' : 'likely';
  const seen = witness.agent !== null ? "by the agent's word" : 'by its lines on the console';
  return {
    class: 'clean_poweroff',
    confidence,
    account: `The guest powered off; init had stopped the system ${seen}.`,
    deciding: present(stop, powerDown.citation, witness.agent ?? witness.console),
    contributing: [...present(witness.agent === null ? null : witness.console), ...prelude(facts)],
    blame: 'none',
    ended: true,
    readsConsole: true,
  };
}

/** The kernel powered down, and nothing shows that init took part. */
export function forcedPoweroff(facts: CaseFacts, powerDown: ConsoleMark): Finding {
  const sysrq = markOfLastBoot(facts, 'sysrq_power_off');
  return {
    class: 'forced_poweroff',
    confidence: sysrq !== null && facts.shutdown !== null ? 'certain' : 'likely',
    account:
      sysrq !== null
        ? 'The guest was powered off by the SysRq key; init did not stop the system.'
        : 'The kernel powered down, but nothing witnessed that init stopped the system first.',
    deciding: present(facts.shutdown?.citation, powerDown.citation, sysrq?.citation),
    contributing: prelude(facts),
    blame: 'guest',
    ended: true,
    readsConsole: true,
  };
}

/** What came before the power-off and may be why; a POWERDOWN event only says that a request was delivered. */
const prelude = ({ qmp, actions }: CaseFacts): readonly Citation[] =>
  present(
    actions.records.findLast(({ action }) => action === 'shutdown')?.citation ?? lastEvent(qmp, 'POWERDOWN')?.citation,
    lastEvent(qmp, 'WATCHDOG')?.citation,
    lastEvent(qmp, 'BLOCK_IO_ERROR')?.citation,
  );

/** QEMU saw the guest switch its power off. */
export const guestPoweredOff: Rule = {
  name: 'guest_powered_off',
  find: (facts) => {
    const { shutdown } = facts;
    if (shutdown === null || dataString(shutdown, 'reason') !== 'guest-shutdown') return null;
    const powerDown = markOfLastBoot(facts, 'power_down');
    if (powerDown === null || outlived(facts, powerDown)) {
      return {
        class: 'dirty_poweroff',
        confidence: 'likely',
        account: 'The guest switched its power off, but its kernel never said that it powered down.',
        deciding: [shutdown.citation],
        contributing: [...present(facts.serial.lastLine), ...prelude(facts)],
        blame: 'guest',
        ended: true,
        readsConsole: true,
      };
    }
    const witness = initWitness(facts);
    return witness === null ? forcedPoweroff(facts, powerDown) : cleanPoweroff(facts, powerDown, witness);
  },
};

/** No event says so, but the kernel's last words are that it powered down. */
export const powerDownOnConsole: Rule = {
  name: 'power_down_on_console',
  find: (facts) => {
    const powerDown = markOfLastBoot(facts, 'power_down');
    if (powerDown === null || outlived(facts, powerDown)) return null;
    const finding = forcedPoweroff(facts, powerDown);
    return {
      ...finding,
      confidence: 'weak',
      account: 'The kernel said that it powered down, but no event of the VMM confirms it.',
    };
  },
};

/** The kernel stopped without switching the power off: no event, the VMM runs on. Only the console tells. */
export const haltedOnConsole: Rule = {
  name: 'halted_on_console',
  find: (facts) => {
    const halted = markOfLastBoot(facts, 'halted');
    if (halted === null || outlived(facts, halted)) return null;
    return {
      class: 'halted',
      confidence: 'likely',
      account: 'The guest halted: its kernel stopped for good without powering off.',
      deciding: [halted.citation],
      contributing: present(
        markOfLastBoot(facts, 'init_stopping')?.citation,
        facts.firstSilence?.citation,
        facts.status?.citation,
      ),
      blame: 'guest',
      ended: true,
      readsConsole: true,
    };
  },
};
