import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { stackLayout, stackStatus, type StackLayout } from '@inquest/stack';
import { homeFrom } from '../api/platform-address';
import type { CliContext } from '../context';
import { Unproven } from './check-list';

/**
 * The files and processes of the platform, when it runs on this host under this home. Throws `Unproven` otherwise, with
 * what only they can show.
 */
export async function localLayout({ env }: CliContext, unproven: string): Promise<StackLayout> {
  const home = homeFrom(env);
  const isElsewhere = env['INQUEST_URL'] !== undefined;
  if (isElsewhere || !(await stackStatus(home)).isUp) {
    throw new Unproven(`the platform does not run on this host under ${home}; unproven: ${unproven}`);
  }
  return stackLayout(home);
}

/**
 * The hypervisor's process of one incarnation: QEMU's `-name` is `<machine>.<incarnation>`, Firecracker's `--config-file`
 * is in the directory of the instance. Throws `Unproven` when it is not seen here.
 */
export async function monitorPid(machineId: string, incarnation: number, unproven: string): Promise<number> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
  for (const pid of pids) {
    const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
    // The shell that QEMU is started through has the same arguments, and more.
    const isQemu = path.basename(args[0] ?? '').startsWith('qemu-system-');
    if (isQemu && valueOf(args, '-name') === `${machineId}.${incarnation}`) return pid;
    if (valueOf(args, '--config-file')?.includes(`/${machineId}_${incarnation}/`)) return pid;
  }
  throw new Unproven(`no hypervisor of ${machineId} is seen on this host; unproven: ${unproven}`);
}

function valueOf(args: readonly string[], name: string): string | undefined {
  const at = args.indexOf(name);
  return at === -1 ? undefined : args[at + 1];
}

/** Files below a directory, with the blocks that they occupy, in bytes. A directory that is gone has none. */
export async function filesBelow(directory: string): Promise<ReadonlyMap<string, number>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = new Map<string, number>();
  for (const entry of entries.filter((one) => !one.isDirectory())) {
    const file = path.join(entry.parentPath, entry.name);
    const found = await stat(file).catch(() => null);
    if (found !== null) files.set(file, found.blocks * BLOCK_BYTES);
  }
  return files;
}

/** Unit of `st_blocks` (stat(2)). */
const BLOCK_BYTES = 512;
