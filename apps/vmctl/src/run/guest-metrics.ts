import { GuestMetricsView, type MachineView } from '@inquest/contracts-vm';
import type { CliContext } from '../context';

/** A guest that is busy answers late; how it is otherwise matters more. */
const METRICS_TIMEOUT_MS = 3_000;
const KIB_PER_MIB = 1024;

/** How busy a machine says that it is; null when it is not ready, or does not answer in time. */
export async function guestMetrics(
  { gateway, signal }: CliContext,
  { machineId, incarnation, state }: MachineView,
): Promise<GuestMetricsView | null> {
  if (state !== 'ready') return null;
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(METRICS_TIMEOUT_MS)]);
  const options = { query: { incarnation }, signal: inTime };
  return gateway.call(GuestMetricsView, 'GET', `/v1/machines/${machineId}/metrics`, options).catch((): null => {
    // Nobody is told of a metric that is missing when it was the person who broke off.
    signal.throwIfAborted();
    return null;
  });
}

/** `load 0.10  memory 190 of 226 MiB free  disk 52 of 58 MiB free  31 processes`. */
export function metricsLine(metrics: GuestMetricsView): string {
  const free = (freeKib: number, totalKib: number): string =>
    `${Math.round(freeKib / KIB_PER_MIB)} of ${Math.round(totalKib / KIB_PER_MIB)} MiB free`;
  return [
    `load ${metrics.load1.toFixed(2)}`,
    `memory ${free(metrics.memoryAvailableKib, metrics.memoryTotalKib)}`,
    `disk ${free(metrics.diskFreeKib, metrics.diskTotalKib)}`,
    `${metrics.processes} processes`,
  ].join('  ');
}
