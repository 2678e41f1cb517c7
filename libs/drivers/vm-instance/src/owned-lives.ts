import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { abortable, hasCode, ID_PATTERN } from '@inquest/kernel';
import {
  checkInstanceDirectory,
  vmDriverError,
  type DestroyedInstance,
  type ReapedInstance,
  type VmHandle,
  type VmSpec,
} from '@inquest/vm-driver';
import { endInstance, type CompleteEvidence } from './end-instance';
import { makeInstancesRoot, removeInstanceDirectory } from './instance-directory';
import { findInstanceProcesses, type InstanceOfCommand } from './process-scan';

/** A machine that a driver owns. */
export interface OwnedMachine extends VmHandle {
  /** True once its monitor was observed gone. */
  readonly hasEnded: boolean;
}

/** A life that is being started, running, or ended and not yet destroyed. */
interface OwnedLife<Machine> {
  readonly abort: AbortController;
  readonly started: Promise<Machine>;
}

/** The machines of one driver below its instances root, and the orphans that an earlier one left there. */
export class OwnedLives<Machine extends OwnedMachine> {
  private readonly lives = new Map<string, OwnedLife<Machine>>();

  /** `instanceOf` tells the processes of this driver from all others. */
  constructor(
    private readonly instancesRoot: string,
    private readonly instanceOf: InstanceOfCommand,
    private readonly completeEvidence: CompleteEvidence = noEvidence,
  ) {}

  /**
   * Brings a machine up as one of these lives. The signal that `launch` gets aborts also when the instance is destroyed.
   * Rejects with what `launch` rejects with, and with `VM_INSTANCE_EXISTS` while there is a life in that directory.
   */
  async start(
    { directory, machineId }: Pick<VmSpec, 'directory' | 'machineId'>,
    signal: AbortSignal,
    launch: (signal: AbortSignal) => Promise<Machine>,
  ): Promise<Machine> {
    if (this.lives.has(directory)) {
      throw vmDriverError('VM_INSTANCE_EXISTS', `machine ${machineId} has an instance already in ${directory}`, {
        machineId,
      });
    }
    const abort = new AbortController();
    const started = launch(AbortSignal.any([signal, abort.signal]));
    this.lives.set(directory, { abort, started });
    try {
      return await started;
    } catch (e) {
      this.lives.delete(directory);
      throw e;
    }
  }

  /** Promises and errors of `VmDriver.destroyInstance`. */
  async destroy(directory: string): Promise<DestroyedInstance> {
    checkInstanceDirectory(directory, this.instancesRoot);
    const life = this.lives.get(directory);
    if (life === undefined) return this.destroyUnowned(directory);
    life.abort.abort();
    const machine = await life.started.catch(() => null);
    const signalled = machine !== null && !machine.hasEnded;
    const killed = machine === null || (await isStopped(machine));
    if (!killed) return { killed, signalled, directoryRemoved: false };
    const directoryRemoved = await removeInstanceDirectory(directory);
    this.lives.delete(directory);
    return { killed, signalled, directoryRemoved };
  }

  /** Promises and errors of `VmDriver.reapOrphans`. */
  async reapOrphans(signal: AbortSignal): Promise<readonly ReapedInstance[]> {
    await makeInstancesRoot(this.instancesRoot);
    const processes = await findInstanceProcesses(this.instancesRoot, this.instanceOf);
    const directories = new Set(await instanceDirectories(this.instancesRoot));
    for (const { directory } of processes) directories.add(directory);
    const orphans = [...directories].filter((directory) => !this.lives.has(directory));
    const ended = orphans.map((orphan) =>
      endInstance(
        orphan,
        processes.filter(({ directory }) => directory === orphan),
        this.completeEvidence,
      ),
    );
    return (await abortable(Promise.all(ended), signal, 'reaping')).map(({ reaped }) => reaped);
  }

  private async destroyUnowned(directory: string): Promise<DestroyedInstance> {
    const processes = await findInstanceProcesses(this.instancesRoot, this.instanceOf);
    const own = processes.filter((process) => process.directory === directory);
    return (await endInstance(directory, own, this.completeEvidence)).destroyed;
  }
}

/** Of a driver whose monitors record nothing themselves. */
const noEvidence: CompleteEvidence = () => Promise.resolve({ exit: null, recording: null });

async function isStopped(machine: OwnedMachine): Promise<boolean> {
  try {
    await machine.stop({ graceMs: 0 });
    return true;
  } catch (e) {
    if (hasCode(e, 'VM_PROCESS_UNKILLABLE')) return false;
    throw e;
  }
}

/** Directories below the root that can be instances; links and files are nobody's instance. */
async function instanceDirectories(instancesRoot: string): Promise<string[]> {
  const entries = await readdir(instancesRoot, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && ID_PATTERN.test(entry.name))
    .map((entry) => path.join(instancesRoot, entry.name));
}
