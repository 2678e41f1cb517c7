import { constants } from 'node:os';
import { kernelError, type DomainError } from '@inquest/kernel';
import { processError } from './errors';

const STDERR_TAIL_CHARS = 2_000;
const SHOWN_COMMAND_CHARS = 200;

/** How a command ended, as the operating system told it. */
export interface CommandEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stderr: string;
  readonly cause?: unknown;
}

/** The exit code when it is accepted; throws `PROCESS_FAILED` otherwise. */
export function acceptedExitCode(shown: string, end: CommandEnd, accepted: readonly number[] = [0]): number {
  if (end.exitCode !== null && accepted.includes(end.exitCode)) return end.exitCode;
  throw failedError(shown, end);
}

/** `PROCESS_FAILED`, saying how it ended and the end of its error output. */
export const failedError = (shown: string, end: CommandEnd): DomainError =>
  processError(
    'PROCESS_FAILED',
    `${shown} ${describeEnd(end)}${tailOf(end.stderr)}`,
    { exitCode: end.exitCode, signal: end.signal },
    end.cause,
  );

function describeEnd({ exitCode, signal }: CommandEnd): string {
  if (exitCode !== null) return `exited with ${exitCode}`;
  if (signal !== null) return `was ended by ${signal} (${constants.signals[signal as NodeJS.Signals]})`;
  return 'could not be started';
}

/** Program and arguments for a message, bounded. Arguments never hold secrets; the environment does and is not shown. */
export function describeCommand(file: string, args: readonly string[]): string {
  const shown = [file, ...args].join(' ').replaceAll(/\s+/g, ' ');
  return shown.length > SHOWN_COMMAND_CHARS ? `${shown.slice(0, SHOWN_COMMAND_CHARS)}...` : shown;
}

type EarlyEnd = 'timeout' | 'aborted';

/** Calls `end` once when time is up or `signal` aborts, and remembers which it was. `settle` disarms it. */
export function endEarly(
  end: () => void,
  timeoutMs: number,
  signal?: AbortSignal,
): { reason(): EarlyEnd | null; settle(): void } {
  let reason: EarlyEnd | null = null;
  const endBecause = (why: EarlyEnd): void => {
    reason ??= why;
    end();
  };
  const onAbort = (): void => endBecause('aborted');
  const timer = setTimeout(() => endBecause('timeout'), timeoutMs);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  return {
    reason: () => reason,
    settle: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

export const abortedError = (shown: string, signal: AbortSignal): DomainError =>
  kernelError('OPERATION_ABORTED', `${shown} was cancelled`, {}, signal.reason);

export const timeoutError = (shown: string, timeoutMs: number, stderr: string): DomainError =>
  processError('PROCESS_TIMEOUT', `${shown} was still running after ${timeoutMs} ms and was killed${tailOf(stderr)}`, {
    timeoutMs,
  });

const tailOf = (stderr: string): string => {
  const tail = stderr.trim().slice(-STDERR_TAIL_CHARS);
  return tail === '' ? '' : `: ${tail}`;
};
