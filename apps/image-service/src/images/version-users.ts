import { Injectable } from '@nestjs/common';
import { imageError, type ImageUserView } from '@inquest/contracts-image';
import { dto } from '@inquest/contracts-base';
import { ListMachinesRequest } from '@inquest/contracts-vm';
import { VmClient } from '@inquest/vm-client';
import type { ImageVersionEntity } from './image-version.entity';
import { ImageVersionsRepository } from './image-versions.repository';
import type { VersionKey } from './version-making';

/** Live machines that one look goes through. */
const LOOK_LIMIT = 500;
/** Users that a refusal names. */
const NAMED_USERS = 10;

/** What stands on a version. */
@Injectable()
export class VersionUsers {
  constructor(
    private readonly machines: VmClient,
    private readonly versions: ImageVersionsRepository,
  ) {}

  /** Live machines on a version, on all nodes that answer. A node that is down has none: it ends them when it starts. */
  async machinesOn({ name, version }: VersionKey): Promise<ImageUserView[]> {
    const live = await this.machines.list(dto(ListMachinesRequest, { limit: LOOK_LIMIT }));
    return live
      .filter((machine) => machine.image === name && machine.version === version)
      .map(({ machineId, name: machineName, owner, state }) => ({ machineId, name: machineName, owner, state }));
  }

  /** Versions that were unfrozen from a version and still have files. */
  async childrenOf({ name, version }: VersionKey): Promise<ImageVersionEntity[]> {
    const rows = await this.versions.of(name);
    return rows.filter((row) => row.parentVersion === version && !row.isRemoved && row.state !== 'failed');
  }

  /** Throws `IMAGE_IN_USE`, naming the machines. */
  async requireNoMachines(key: VersionKey, wanted: string): Promise<void> {
    const machines = await this.machinesOn(key);
    refuseWhileUsed(
      key,
      wanted,
      machines.map(({ machineId, name }) => `machine ${name ?? machineId}`),
    );
  }

  /** Throws `IMAGE_IN_USE`, naming machines and child versions. */
  async requireUnused(key: VersionKey, wanted: string): Promise<void> {
    await this.requireNoMachines(key, wanted);
    const children = await this.childrenOf(key);
    refuseWhileUsed(
      key,
      wanted,
      children.map(({ name, version }) => `version ${name}:${version}`),
    );
  }
}

function refuseWhileUsed({ name, version }: VersionKey, wanted: string, users: readonly string[]): void {
  if (users.length === 0) return;
  const more = users.length > NAMED_USERS ? ` and ${users.length - NAMED_USERS} more` : '';
  const named = users.slice(0, NAMED_USERS);
  throw imageError(
    'IMAGE_IN_USE',
    `image ${name}:${version} cannot be ${wanted}: ${named.join(', ')}${more} stand${users.length === 1 ? 's' : ''} on it`,
    { image: name, version, users: named.join(' ') },
  );
}
