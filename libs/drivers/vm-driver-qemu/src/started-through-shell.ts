import { constants } from 'node:os';
import { readFile, stat } from 'node:fs/promises';
import { getExecutable } from '@inquest/process';
import { instanceFile, type VmExit } from '@inquest/vm-driver';
import { STATUS_FD } from './qemu-arguments';

/** `$0` of the shell, by which its processes are told from other shells. */
export const SHELL_NAME = 'inquest-machine';

/** ulimit counts files in blocks of 512 bytes (POSIX, ulimit). */
const BLOCK_BYTES = 512;

/** A shell adds this to the number of the signal that ended its command (POSIX, 2.8.2). */
const SIGNALLED = 128;

/**
 * Starts QEMU in limits that it inherits: no core dump (it would hold the guest's memory), and no file beyond the bound;
 * with SIGXFSZ ignored a write beyond it fails like one on a full disk, which pauses the machine instead of killing it. The
 * shell stays, because only a parent learns how a process ended, and the service may have been started anew by then. Its
 * own words would look like QEMU's, so it has none; QEMU does not get the descriptor that it reports into.
 */
function script(fileBytes: number | null): string {
  return [
    "trap '' XFSZ",
    'ulimit -c 0',
    ...(fileBytes === null ? [] : [`ulimit -f ${Math.ceil(fileBytes / BLOCK_BYTES)}`]),
    'exec 9>&2 2>/dev/null',
    `"$@" 2>&9 9>&- ${STATUS_FD}>&- &`,
    'wait $!',
    'status=$?',
    `echo $status >&${STATUS_FD}`,
    'exit $status',
  ].join('\n');
}

/** The command that starts `binary` through the shell. Rejects with `PROCESS_NOT_FOUND`. */
export async function shellCommand(
  binary: string,
  args: readonly string[],
  fileBytes: number | null,
): Promise<[file: string, args: string[]]> {
  const [shell, qemu] = await Promise.all([getExecutable('sh'), getExecutable(binary)]);
  return [shell, ['-c', script(fileBytes), SHELL_NAME, qemu, ...args]];
}

/** How a command ended whose shell ended with this status. */
export function endOfStatus(status: number): Pick<VmExit, 'code' | 'signal'> {
  const [signal = null] = Object.entries(constants.signals).find(([, number]) => number === status - SIGNALLED) ?? [];
  return signal === null ? { code: status, signal: null } : { code: null, signal };
}

/** How QEMU ended, as its shell has reported; null when it has not. Never rejects. */
export async function readExitStatus(directory: string): Promise<Pick<VmExit, 'code' | 'signal' | 'atMs'> | null> {
  const file = instanceFile(directory, 'exitStatus');
  const text = await readFile(file, 'utf8').catch(() => '');
  const found = await stat(file).catch(() => null);
  if (found === null || !/^\d{1,3}\n$/.test(text)) return null;
  return { ...endOfStatus(Number(text)), atMs: Math.round(found.mtimeMs) };
}
