import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** A process that says itself that it works below a directory. */
export interface HostProcess {
  readonly pid: number;
  /** Name of its program, without the directory. */
  readonly program: string;
  readonly args: readonly string[];
}

/** All processes whose arguments or environment name something in `directory`; not this one. */
export async function processesOf(directory: string): Promise<readonly HostProcess[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const found = await Promise.all(pids.filter((pid) => pid !== process.pid).map((pid) => describe(pid, directory)));
  return found.filter((one) => one !== null);
}

/** The running virtual machines of a home, by machine id. */
export async function qemusOf(home: string): Promise<ReadonlyMap<string, HostProcess>> {
  const qemus = (await processesOf(home)).filter(({ program }) => program.startsWith('qemu-system-'));
  return new Map(qemus.map((qemu) => [machineOf(qemu), qemu]));
}

/** QEMU's -name is `<machine>.<incarnation>`. */
function machineOf({ args }: HostProcess): string {
  const name = args[args.indexOf('-name') + 1] ?? '';
  return name.slice(0, name.lastIndexOf('.'));
}

async function describe(pid: number, directory: string): Promise<HostProcess | null> {
  const [args, environment] = [await readNulSeparated(pid, 'cmdline'), await readNulSeparated(pid, 'environ')];
  const names = [...args, ...environment].some((text) => text.includes(directory));
  return names ? { pid, program: path.basename(args[0] ?? ''), args } : null;
}

/** Empty for a process that is gone. */
async function readNulSeparated(pid: number, file: 'cmdline' | 'environ'): Promise<readonly string[]> {
  const text = await readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
  return text.split('\0').filter((part) => part !== '');
}
