import { MachineView, VerdictReport } from '@inquest/contracts-vm';
import type { CliContext } from '../context';
import { longPoll, WAIT_MS } from './long-poll';

/**
 * Waits until the machine has ended, at most `settleSeconds`, and gives the verdict on this incarnation. It is
 * `still_running` only when the machine works: one whose process lives may still have halted, hung or panicked.
 */
export async function awaitEnding(
  context: CliContext,
  { machineId, incarnation }: Pick<MachineView, 'machineId' | 'incarnation'>,
  settleSeconds: number,
): Promise<VerdictReport> {
  const deadline = performance.now() + settleSeconds * 1000;
  const remainingMs = (): number => Math.max(0, Math.round(deadline - performance.now()));
  await longPoll(
    context,
    MachineView,
    `/v1/machines/${machineId}/wait`,
    () => ({ state: ['ended'], waitMs: Math.min(WAIT_MS, remainingMs()) }),
    ({ state }) => state === 'ended' || remainingMs() === 0,
  );
  return context.gateway.call(VerdictReport, 'GET', `/v1/machines/${machineId}/verdict`, { query: { incarnation } });
}
