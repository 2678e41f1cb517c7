import { canonicalJson } from './canonical-json';
import type { Citation } from './citation';

/** Raised whenever the same evidence may give another verdict than before. */
export const ENGINE_VERSION = 3;

/** How a machine ended, or stands. */
export const VERDICT_CLASSES = [
  /** The guest powered off, its kernel said so, and something witnessed that init stopped the system. */
  'clean_poweroff',
  /** The kernel powered down, but nothing witnessed init: `poweroff -f`, sysrq o. */
  'forced_poweroff',
  /** The guest's power went off without a word of its kernel. */
  'dirty_poweroff',
  /** The kernel stopped for good without powering off. */
  'halted',
  /** The guest reset itself. */
  'guest_reset',
  /** It does so again and again. */
  'reset_loop',
  /** The guest's kernel panicked. */
  'panicked',
  /** The watchdog device fired: the guest stopped feeding it. */
  'watchdog_fired',
  /** Alive, but silent on the link and on the console. */
  'hung',
  /** The host ended it. */
  'host_killed',
  /** The VMM process died of its own fault. */
  'vmm_crashed',
  /** The host could not store what the guest wrote. */
  'io_error',
  /** Another failure of the host: out of memory, VMM frozen. */
  'host_error',
  /** No kernel ever ran. */
  'never_booted',
  /** The kernel lives, the guest agent does not. */
  'agent_lost',
  /** The guest put itself to sleep. */
  'suspended',
  /** It had not ended when it was looked at. */
  'still_running',
  /** The evidence does not tell. */
  'unknown',
] as const;
export type VerdictClass = (typeof VERDICT_CLASSES)[number];

/**
 * `certain`: the host's own observation, or witnesses that agree. `likely`: one witness, or one that the guest could fake.
 * `weak`: inferred from what is absent, or evidence is missing or cut.
 */
export const CONFIDENCES = ['certain', 'likely', 'weak'] as const;
export type Confidence = (typeof CONFIDENCES)[number];

/** Whose doing the ending was. `none`: nobody's fault, or not known. */
export const BLAMES = ['guest', 'host', 'caller', 'none'] as const;
export type Blame = (typeof BLAMES)[number];

/** How one incarnation of a machine ended, with the evidence that decided it. */
export interface Verdict {
  readonly engineVersion: number;
  readonly class: VerdictClass;
  readonly confidence: Confidence;
  /** One sentence for a person. Printable ASCII. */
  readonly account: string;
  /** Name of the rule that decided. */
  readonly rule: string;
  /** The evidence without which the verdict would be another; at most `MAX_CITATIONS`. */
  readonly deciding: readonly Citation[];
  /** Evidence that explains or qualifies it; at most `MAX_CITATIONS`. */
  readonly contributing: readonly Citation[];
  /** Kernels seen starting on the console; at least 1 when the agent answered. */
  readonly boots: number;
  /** Evidence that is missing, cut, malformed or contradicts itself. */
  readonly warnings: readonly string[];
  readonly blame: Blame;
  /** The machine cannot go on by itself: its VMM is gone, or its guest stopped for good. */
  readonly ended: boolean;
}

/** Most citations a verdict lists of each kind. */
export const MAX_CITATIONS = 8;

/** The text of `verdict.json`, newline included. Equal verdicts give equal bytes. */
export function encodeVerdict(verdict: Verdict): string {
  return `${canonicalJson(verdict)}\n`;
}
