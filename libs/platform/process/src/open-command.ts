import type { Readable, Writable } from 'node:stream';
import { execa } from 'execa';
import { HeadTailBuffer } from '@inquest/kernel';
import { abortedError, acceptedExitCode, describeCommand, endEarly, failedError, timeoutError } from './command-end';
import { baseEnvironment } from './environment';
import { getExecutable } from './find-executable';
import { sendSignal } from './process-identity';
import type { CommandOptions } from './run-command';

/** A running program whose input and output are streams. */
export interface OpenCommand {
  readonly pid: number;
  /** Must be ended by the caller, else a program that reads its input never ends. */
  readonly stdin: Writable;
  /** Must be read or destroyed by the caller, else the program stops at a full pipe. */
  readonly stdout: Readable;
  /** The accepted exit code; rejects as `runCommand` does. Its whole group is killed then. */
  readonly finished: Promise<number>;
}

export interface OpenCommandOptions extends Omit<CommandOptions, 'input' | 'maxOutputBytes'> {
  /** Standard error as it comes, for live logs. Must not throw. */
  readonly onStderr?: (chunk: Uint8Array) => void;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const STDERR_TAIL_BYTES = 4_096;

/**
 * Starts a program whose input or output is too large to hold, in a process group of its own. Throws
 * `PROCESS_NOT_FOUND`; everything later comes through `finished`, which the caller must await.
 */
export async function openCommand(
  file: string,
  args: readonly string[],
  options: OpenCommandOptions = {},
): Promise<OpenCommand> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, signal } = options;
  const shown = describeCommand(file, args);
  if (signal?.aborted) throw abortedError(shown, signal);
  const env = { ...baseEnvironment(), ...options.env };
  const executable = await getExecutable(file, env['PATH']);
  const subprocess = execa(executable, args, {
    env,
    extendEnv: false,
    buffer: false,
    reject: false,
    detached: true,
    cleanup: false,
    stdin: 'pipe',
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...options.user,
  });
  const { pid, stdin, stdout, stderr } = subprocess;
  // A program that ends before it read all its input breaks the pipe; its exit code tells why.
  stdin.on('error', () => undefined);
  if (pid === undefined) {
    const { cause } = await subprocess;
    throw failedError(shown, { exitCode: null, signal: null, stderr: '', cause });
  }
  const stderrTail = new HeadTailBuffer(0, STDERR_TAIL_BYTES);
  stderr.on('data', (chunk: Uint8Array) => {
    stderrTail.write(chunk);
    options.onStderr?.(chunk);
  });
  const ending = endEarly(
    () => {
      sendSignal(-pid, 'SIGKILL');
      stdout.destroy();
      stderr.destroy();
    },
    timeoutMs,
    signal,
  );
  const finished = subprocess
    .then((result) => {
      const errorOutput = Buffer.from(stderrTail.read().tail).toString('utf8');
      if (ending.reason() === 'aborted' && signal) throw abortedError(shown, signal);
      if (ending.reason() === 'timeout') throw timeoutError(shown, timeoutMs, errorOutput);
      const end = { exitCode: result.exitCode ?? null, signal: result.signal ?? null, stderr: errorOutput };
      return acceptedExitCode(shown, end, options.acceptExitCodes);
    })
    .finally(() => {
      ending.settle();
      sendSignal(-pid, 'SIGKILL');
    });
  // Awaited late or never, a failure must not count as unhandled while the caller still reads the streams.
  finished.catch(() => undefined);
  return { pid, stdin, stdout, finished };
}
