import { OperationView } from '@inquest/contracts-base';
import { errorFromBody } from '@inquest/kernel';
import type { CliContext } from '../context';
import { longPoll, WAIT_MS } from './long-poll';

/** How long a cancelled operation may take to stop before Ctrl-C ends the waiting. */
const CANCEL_TIMEOUT_MS = 25_000;

/**
 * Follows an operation to its end, telling each step. An interruption cancels the operation: nobody waits for it any more.
 * Throws the error that ended it.
 */
export async function followOperation(context: CliContext, started: OperationView): Promise<OperationView> {
  const { printer, signal } = context;
  let told = '';
  const tell = ({ step, percent }: OperationView): void => {
    if (step !== told) printer.note(`  ${String(percent).padStart(3)} %  ${step}`);
    told = step;
  };
  tell(started);
  const operation = await longPoll(
    context,
    OperationView,
    `/v1/operations/${started.operationId}`,
    () => ({ waitMs: WAIT_MS, knownStep: told }),
    (view) => {
      if (view.state === 'running') tell(view);
      return view.state !== 'running';
    },
  ).catch(async (e: unknown) => {
    if (signal.aborted) await cancelOperation(context, started.operationId);
    throw e;
  });
  const error = errorFromBody(operation.error);
  if (error !== null) throw error;
  return operation;
}

/** Asks the platform to stop an operation and says how it stands, also while this process is being interrupted. */
export async function cancelOperation({ gateway, printer }: CliContext, operationId: string): Promise<OperationView> {
  const options = { signal: AbortSignal.timeout(CANCEL_TIMEOUT_MS) };
  const operation = await gateway.call(OperationView, 'DELETE', `/v1/operations/${operationId}`, options);
  printer.note(
    operation.state === 'running'
      ? `${operation.subject}: ${operation.kind} was told to stop and is at its last step: ${operation.step}`
      : `${operation.subject}: ${operation.kind} is ${operation.state}`,
  );
  return operation;
}

/** `tiny:2: image.build succeeded in 4.1 s` */
export function operationText({ subject, kind, state, startedAtMs, endedAtMs }: OperationView): string {
  const seconds = (((endedAtMs ?? startedAtMs) - startedAtMs) / 1000).toFixed(1);
  return `${subject}: ${kind.replace(/^image\./, '')} ${state} in ${seconds} s`;
}
