import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { imageError } from '@inquest/contracts-image';
import { openCommand, runCommand } from '@inquest/process';

/** A desktop's directories, on a busy host. */
const TIMEOUT_MS = 4 * 60_000;
/** The package database of a desktop has 4 MiB. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/**
 * Runs debugfs commands on a disk that it opens read-only: nothing is mounted, no kernel code sees the file system. Each
 * line it prints goes to `onLine`; a command comes before its output, as `debugfs: <command>`.
 */
export async function runDebugfs(
  disk: string,
  commands: readonly string[],
  workDirectory: string,
  { onLine, signal }: { readonly onLine: (line: string) => void; readonly signal: AbortSignal },
): Promise<void> {
  const script = path.join(workDirectory, 'commands');
  await writeFile(script, commands.map((command) => `${command}\n`).join(''), { mode: 0o600 });
  const command = await openCommand('debugfs', ['-f', script, disk], { timeoutMs: TIMEOUT_MS, signal });
  command.stdin.end();
  await Promise.all([eachLine(command.stdout, onLine), command.finished]);
}

async function eachLine(output: Readable, onLine: (line: string) => void): Promise<void> {
  for await (const line of createInterface({ input: output, crlfDelay: Infinity })) onLine(line);
}

/** The text of a file in a disk; null when it has none of that name. `guestPath` is ours, never a guest's. Throws
 * `IMAGE_FILE_SYSTEM_DAMAGED`. */
export async function readGuestFile(disk: string, guestPath: string, signal: AbortSignal): Promise<string | null> {
  const options = { timeoutMs: TIMEOUT_MS, maxOutputBytes: MAX_FILE_BYTES, signal };
  const { stdout, stderr } = await runCommand('debugfs', ['-R', `cat ${guestPath}`, disk], options);
  if (/File not found/i.test(stderr)) return null;
  if (/Bad magic number|while opening/i.test(stderr))
    throw imageError('IMAGE_FILE_SYSTEM_DAMAGED', `the disk cannot be read: ${stderr.trim().slice(0, 300)}`);
  return stdout;
}
