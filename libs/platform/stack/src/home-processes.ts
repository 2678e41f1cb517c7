import { readdir, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';
import { killAndObserve, processIdentity, type EndedHow, type ProcessIdentity } from '@inquest/process';
import type { StackLayout } from './stack-layout';
import { readStackState } from './stack-state';

/** A process of this home that nobody supervises any more, and how it was ended. */
export interface EndedProcess {
  readonly name: string;
  readonly pid: number;
  readonly how: EndedHow;
}

/**
 * Ends every process of this home that a dead supervisor left: those on record, and those that say themselves whose they
 * are (by the ready file in their environment, or by a data path in their arguments). Returns once all were seen gone.
 * Only for when no supervisor of this home runs.
 */
export async function endLeftovers(layout: StackLayout, graceMs: number): Promise<EndedProcess[]> {
  const recorded = (await readStackState(layout))?.services ?? [];
  // Last started, first ended.
  const onRecord = recorded.flatMap(({ name, process }) => (process === null ? [] : [{ name, process }])).reverse();
  const ended: EndedProcess[] = [];
  for (const found of [onRecord, await findHomeProcesses(layout)]) {
    const results = await Promise.all(found.map((leftover) => end(leftover, graceMs)));
    ended.push(...results.filter(({ how }) => how !== 'already-gone'));
  }
  return ended;
}

interface Leftover {
  readonly name: string;
  readonly process: ProcessIdentity;
}

async function end({ name, process }: Leftover, graceMs: number): Promise<EndedProcess> {
  // SIGINT is Postgres' fast shutdown; SIGTERM would wait for its clients.
  const stopSignal = name === 'postgres' ? 'SIGINT' : 'SIGTERM';
  return { name, pid: process.pid, how: await killAndObserve(process, { graceMs, stopSignal }) };
}

/** Running processes that name this home in a way that only processes of its stack do. */
async function findHomeProcesses(layout: StackLayout): Promise<Leftover[]> {
  const ourRoot = await readlink('/proc/self/root');
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => {
      // A process in another root directory (a container, a chroot) means another home by the same path.
      if ((await readlink(`/proc/${pid}/root`).catch(() => null)) !== ourRoot) return null;
      const [name, identity] = [await nameInHome(pid, layout), await processIdentity(pid)];
      return name === null || identity === null ? null : { name, process: identity };
    }),
  );
  return found.filter((leftover) => leftover !== null);
}

async function nameInHome(pid: number, layout: StackLayout): Promise<string | null> {
  const args = await readNulSeparated(`/proc/${pid}/cmdline`);
  const program = path.basename(args[0] ?? '');
  // QEMU packs paths into arguments such as `file=/a/b,if=none`.
  const parts = args.flatMap((arg) => arg.split(/[=,:]/));
  const names = (directory: string): boolean => parts.some((part) => part.startsWith(`${directory}/`));
  if (program === 'nats-server' && names(layout.nats)) return program;
  if (program === 'postgres' && names(layout.postgres)) return program;
  if (program.startsWith('qemu-system-') && names(layout.machines)) return program;
  const environment = await readNulSeparated(`/proc/${pid}/environ`);
  const readyFile = environment.find((entry) => entry.startsWith(`INQUEST_READY_FILE=${layout.run}/`));
  return readyFile === undefined ? null : path.basename(readyFile, '.ready.json');
}

/** Empty for a process that is gone, is a kernel thread, or belongs to somebody else. */
async function readNulSeparated(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\0').filter((part) => part !== '');
}
