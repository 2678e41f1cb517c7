// What the host says of processes and of itself.
import { readdirSync, readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';

/** Proportional set size of a process in MiB: shared pages are divided among those that share them (proc(5)). */
export function pssMib(pid) {
  const kib = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1];
  if (kib === undefined) throw new Error(`process ${pid} has no Pss`);
  return Number(kib) / 1024;
}

/** All processes, each with its parent and its arguments. */
export function processes() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        // The name of the program may have blanks and brackets in it; what follows the last bracket has not.
        const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
        return [{ pid: Number(name), parent, args: readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0') }];
      } catch {
        return []; // it has ended since
      }
    });
}

/** A process and all below it. @param {readonly number[]} roots */
export function family(roots) {
  const all = processes();
  const members = new Set(roots);
  for (let before = 0; before !== members.size;) {
    before = members.size;
    for (const { pid, parent } of all) if (members.has(parent)) members.add(pid);
  }
  return [...members];
}

/** The processes that work in an instance directory: the monitor and the shell that waits for it. @param {string} instance */
export function processesOf(instance) {
  return workersOf(instance).map(({ pid }) => pid);
}

/** The monitor that works in an instance directory. @param {string} instance */
export function monitorOf(instance) {
  const monitor = workersOf(instance).find(({ args }) => /qemu-system/.test(args[0] ?? ''));
  if (monitor === undefined) throw new Error(`no monitor runs in ${instance}`);
  return monitor.pid;
}

function workersOf(instance) {
  const found = processes().filter(({ args }) => args.some((argument) => argument.includes(`${instance}/`)));
  if (found.length === 0) throw new Error(`no process works in ${instance}`);
  return found;
}

/** What every figure depends on. */
export const hostConditions = () => ({
  processors: cpus().length,
  processorModel: cpus()[0]?.model ?? 'unknown',
  memoryMib: Math.floor(totalmem() / 1024 / 1024),
  hostKernel: release(),
  node: process.version,
});

export const load = () => loadavg().map((value) => Number(value.toFixed(2)));
