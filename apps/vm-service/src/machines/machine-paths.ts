import path from 'node:path';
import { Injectable } from '@nestjs/common';
import { parseId, type MachineId } from '@inquest/kernel';
import { VmServiceConfig } from '../vm-service.config';

/** Where the files of machines are. The only place where a machine id becomes a path. */
@Injectable()
export class MachinePaths {
  constructor(private readonly config: VmServiceConfig) {}

  /** Direct children of it are instances of the driver; gone when the machine is removed. */
  get instancesRoot(): string {
    return path.join(this.config.home, 'machines');
  }

  /** One incarnation's instance: a new name each time, because image locks are per inode. */
  instance(machine: MachineId, incarnation: number): string {
    return path.join(this.instancesRoot, `${checked(machine)}_${incarnation}`);
  }

  /** The evidence bundle of one incarnation. Outlives the machine. */
  evidence(machine: MachineId, incarnation: number): string {
    return path.join(this.evidenceOf(machine), String(incarnation));
  }

  /** The evidence bundles of all incarnations of a machine. */
  evidenceOf(machine: MachineId): string {
    return path.join(this.config.home, 'evidence', checked(machine));
  }

  /** Sockets by which the machines of groups are wired together. */
  get networksRoot(): string {
    return path.join(this.config.home, 'networks');
  }

  network(groupId: string): string {
    return path.join(this.networksRoot, parseId<string>(groupId, 'group'));
  }

  /** Templates of image versions: `<image>/<version>/<memory>-<cpus>`. */
  get templatesRoot(): string {
    return path.join(this.config.home, 'templates');
  }

  get imagesRoot(): string {
    return path.join(this.config.home, 'images');
  }
}

const checked = (machine: MachineId): string => parseId<MachineId>(machine, 'machine');
