import { execa } from 'execa';
import { abortedError, acceptedExitCode, describeCommand, endEarly, timeoutError } from './command-end';
import { baseEnvironment, type Environment } from './environment';
import { processError } from './errors';
import { getExecutable } from './find-executable';
import { sendSignal } from './process-identity';

/** An unprivileged user that a process runs as. Only root can choose another user than its own. */
export interface ProcessUser {
  readonly uid: number;
  readonly gid: number;
}

export interface CommandOptions {
  readonly cwd?: string;
  /** Added to `baseEnvironment()`; nothing else is inherited. Never logged, never part of an error. */
  readonly env?: Environment;
  /** Sent to standard input, which is then closed; without it standard input is empty. */
  readonly input?: string | Uint8Array;
  /** How long the command may run, in ms. Default 60 000. */
  readonly timeoutMs?: number;
  /** Kills the command and its process group; the promise then rejects with `OPERATION_ABORTED`. */
  readonly signal?: AbortSignal;
  /** Bound on standard output and on standard error, each. Default 16 MiB. */
  readonly maxOutputBytes?: number;
  /** Exit codes that are a result, not a failure. Default: only 0. */
  readonly acceptExitCodes?: readonly number[];
  readonly user?: ProcessUser;
}

export interface CommandResult<Output = string> {
  /** One of `acceptExitCodes`. */
  readonly exitCode: number;
  readonly stdout: Output;
  readonly stderr: string;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/**
 * Runs a program to its end, without a shell, in a process group of its own, and gives its output as UTF-8 text.
 * However it ends, its whole group is killed then. Throws `PROCESS_NOT_FOUND`, `PROCESS_FAILED`, `PROCESS_TIMEOUT`,
 * `PROCESS_OUTPUT_OVERSIZED` or `OPERATION_ABORTED`.
 */
export async function runCommand(
  file: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const result = await runCommandBytes(file, args, options);
  return { ...result, stdout: result.stdout.toString('utf8') };
}

/** `runCommand` with the bytes of standard output as they came, for output that need not be UTF-8 (file names, archives). */
export async function runCommandBytes(
  file: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult<Buffer>> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES, signal } = options;
  const shown = describeCommand(file, args);
  if (signal?.aborted) throw abortedError(shown, signal);
  const env = { ...baseEnvironment(), ...options.env };
  const executable = await getExecutable(file, env['PATH']);
  const subprocess = execa(executable, args, {
    env,
    extendEnv: false,
    encoding: 'buffer',
    maxBuffer: maxOutputBytes,
    reject: false,
    detached: true,
    cleanup: false,
    stripFinalNewline: false,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.input === undefined ? { stdin: 'ignore' } : { input: options.input }),
    ...options.user,
  });
  const endGroup = (): void => {
    if (subprocess.pid !== undefined) sendSignal(-subprocess.pid, 'SIGKILL');
    // A grandchild that left the group may hold the pipes open for ever.
    subprocess.stdout?.destroy();
    subprocess.stderr?.destroy();
  };
  const ending = endEarly(endGroup, timeoutMs, signal);
  try {
    const result = await subprocess;
    const stderr = toBuffer(result.stderr).toString('utf8');
    if (ending.reason() === 'aborted' && signal) throw abortedError(shown, signal);
    if (ending.reason() === 'timeout') throw timeoutError(shown, timeoutMs, stderr);
    if (result.isMaxBuffer) {
      throw processError('PROCESS_OUTPUT_OVERSIZED', `${shown} wrote more than ${maxOutputBytes} bytes`, {
        maxOutputBytes,
      });
    }
    const ended = { exitCode: result.exitCode ?? null, signal: result.signal ?? null, stderr, cause: result.cause };
    return {
      exitCode: acceptedExitCode(shown, ended, options.acceptExitCodes),
      stdout: toBuffer(result.stdout),
      stderr,
    };
  } finally {
    ending.settle();
    if (subprocess.pid !== undefined) sendSignal(-subprocess.pid, 'SIGKILL');
  }
}

const toBuffer = (bytes: Uint8Array | undefined): Buffer =>
  bytes === undefined ? Buffer.alloc(0) : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
