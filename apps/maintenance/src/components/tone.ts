import type { OperationState } from '@inquest/contracts-base';
import type { CheckOutcome, ImageState } from '@inquest/contracts-image';
import type { MachineState, VerdictView } from '@inquest/contracts-vm';
import type { RunState, SessionState } from '@inquest/contracts-agent';
import type { PublicationState } from '@inquest/contracts-publish';

/** What a state means at a glance. The word beside it says the same: nothing is told by colour alone. */
export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'quiet';

export const IMAGE_TONE: Readonly<Record<ImageState, Tone>> = {
  building: 'busy',
  built: 'warn',
  smoke_ok: 'warn',
  frozen: 'good',
  retired: 'quiet',
  failed: 'bad',
  unfrozen: 'warn',
};

export const CHECK_TONE: Readonly<Record<CheckOutcome, Tone>> = { passed: 'good', failed: 'bad', unchecked: 'quiet' };

export const OPERATION_TONE: Readonly<Record<OperationState, Tone>> = {
  running: 'busy',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'quiet',
};

export const MACHINE_TONE: Readonly<Record<MachineState, Tone>> = {
  requested: 'busy',
  starting: 'busy',
  ready: 'good',
  paused: 'warn',
  ending: 'busy',
  ended: 'quiet',
};

export const SESSION_TONE: Readonly<Record<SessionState, Tone>> = {
  opening: 'busy',
  ready: 'good',
  closing: 'busy',
  closed: 'quiet',
  failed: 'bad',
};

export const RUN_TONE: Readonly<Record<RunState, Tone>> = {
  pending: 'busy',
  running: 'busy',
  completed: 'good',
  failed: 'bad',
  cancelled: 'quiet',
};

export const PUBLICATION_TONE: Readonly<Record<PublicationState, Tone>> = {
  pending: 'busy',
  published: 'good',
  failed: 'bad',
  skipped: 'quiet',
};

/** A wanted end is good whatever else is true; one that is only inferred never looks certain. */
export function verdictTone({
  class: name,
  confidence,
  blame,
}: Pick<VerdictView, 'class' | 'confidence' | 'blame'>): Tone {
  if (name === 'still_running') return 'busy';
  if (name === 'unknown' || confidence === 'weak') return 'warn';
  if (name === 'clean_poweroff' || blame === 'caller') return 'good';
  return blame === 'none' ? 'quiet' : 'bad';
}
