import { printable } from '../citation';
import type { CaseFacts } from '../facts/case-facts';
import { citeMeta } from '../facts/host-facts';
import { dataString } from '../facts/qmp-facts';
import { present, type Finding, type Rule } from './rule';

const KNOWN_GUEST_REASONS: readonly string[] = ['guest-shutdown', 'guest-reset', 'guest-panic'];

/** A SHUTDOWN whose reason no rule knows must not be explained by anything weaker. */
export const unrecognisedReason: Rule = {
  name: 'unrecognised_reason',
  find: ({ shutdown, exit }) => {
    if (shutdown === null || KNOWN_GUEST_REASONS.includes(dataString(shutdown, 'reason'))) return null;
    const reason = printable(dataString(shutdown, 'reason'), 60);
    return {
      class: 'unknown',
      confidence: 'weak',
      account: `QEMU shut down for a reason this version does not know: ${reason === '' ? '(none given)' : reason}.`,
      deciding: [shutdown.citation],
      blame: 'none',
      ended: exit !== null,
      readsConsole: false,
    };
  },
};

/** Name of `unknownEnding` in a verdict. */
export const UNKNOWN_ENDING = 'unknown_ending';

/** What is left when no rule applies. An exit status of 0 proves nothing. */
export function unknownEnding({ exit, evidence, serial, status }: CaseFacts): Finding {
  return {
    class: 'unknown',
    confidence: 'weak',
    account:
      exit === null
        ? 'The VMM process lives, but the evidence does not tell what became of the guest.'
        : `The VMM exited with status ${exit.code ?? 'unknown'}, and nothing tells why.`,
    deciding: present(exit === null ? status?.citation : citeMeta(evidence, 'exit')),
    contributing: present(serial.lastLine),
    blame: 'none',
    ended: exit !== null,
    readsConsole: true,
  };
}
