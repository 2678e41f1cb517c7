import { isDomainError, kernelError, type CleanupStack } from '@inquest/kernel';
import { vmDriverError, type VmExit, type VmSpec } from '@inquest/vm-driver';

/** Undoes a start that failed. Rejects with `VM_INSTANCE_LEFTOVER`, naming what could not be released. */
export async function releaseAll(cleanup: CleanupStack, { machineId }: VmSpec): Promise<void> {
  try {
    await cleanup.run();
  } catch (e) {
    throw vmDriverError(
      'VM_INSTANCE_LEFTOVER',
      `the failed start of machine ${machineId} left something behind: ${(e as Error).message}`,
      { machineId },
      e,
    );
  }
}

/** How a start ended. */
export interface StartEnd {
  readonly callerSignal: AbortSignal;
  /** The deadline of the start. */
  readonly deadline: AbortSignal;
  /** Null when the monitor was never started. */
  readonly monitor: { readonly exited: Promise<VmExit> } | null;
  /** What people call the monitor. */
  readonly monitorName: string;
  /** The end of its error output; where that goes with the instance, as it was before the teardown. */
  readonly words: string;
}

/** The error that `VmDriver.start` rejects with when `cause` went wrong. */
export async function startError({ machineId, limits }: VmSpec, cause: unknown, why: StartEnd): Promise<Error> {
  if (why.callerSignal.aborted) {
    return kernelError(
      'OPERATION_ABORTED',
      `the start of machine ${machineId} was cancelled`,
      {},
      why.callerSignal.reason,
    );
  }
  if (why.deadline.aborted) {
    const { startTimeoutMs } = limits;
    return vmDriverError(
      'VM_START_TIMEOUT',
      `machine ${machineId} did not start within ${startTimeoutMs} ms`,
      { machineId },
      cause,
    );
  }
  if (isDomainError(cause) && cause.code in vmDriverError.table) return cause;
  return vmDriverError(
    'VM_START_FAILED',
    `machine ${machineId} did not start: ${await whyFailed(cause, why)}`,
    { machineId },
    cause,
  );
}

/** The monitor's own words where there are any, else how it ended, else what failed on our side. */
async function whyFailed(cause: unknown, { monitor, monitorName, words }: StartEnd): Promise<string> {
  const shown = printable(words);
  if (monitor === null || shown !== '') return shown === '' ? (cause as Error).message : shown;
  const { code, signal } = await monitor.exited;
  // SIGKILL was the teardown's.
  return signal === 'SIGKILL' ? (cause as Error).message : `${monitorName} ended with ${signal ?? `exit code ${code}`}`;
}

/** Error output may repeat what a guest made up: nothing of it may steer a terminal. */
const printable = (text: string): string => text.replaceAll(/[^\x20-\x7e]+/g, ' ').trim();
