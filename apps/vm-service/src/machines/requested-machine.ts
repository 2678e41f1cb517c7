import { CPUS, vmError, type StartMachineRequest } from '@inquest/contracts-vm';
import type { MachineId } from '@inquest/kernel';
import type { VmDriver } from '@inquest/vm-driver';
import type { MachinePeer } from '../peers/machine-peer';
import type { MachineShare } from '../shares/machine-share';
import type { LaunchableImage } from './image-resolver';
import type { MachineEntity } from './machine.entity';

/** What was found out and decided about a machine before it has a row. */
export interface MachineDecisions extends Pick<
  MachineEntity,
  'node' | 'memoryMib' | 'accelerator' | 'allowedHosts' | 'hasLocalModel'
> {
  readonly machineId: MachineId;
  readonly image: LaunchableImage['image'];
  readonly shares: readonly MachineShare[];
  /** Its place in a group; null = it is alone. */
  readonly peer: MachinePeer | null;
}

/** The row of a machine that was asked for. */
export function requestedMachine(
  request: StartMachineRequest,
  { image, shares, ...decisions }: MachineDecisions,
  driver: VmDriver,
): MachineEntity {
  return {
    ...decisions,
    requestId: request.requestId,
    name: request.name,
    image: image.name,
    imageVersion: image.version,
    purpose: request.purpose,
    state: 'requested',
    reason: 'requested',
    message: 'accepted',
    incarnation: 1,
    cpus: request.cpus ?? CPUS.default,
    hasScreen: (request.screen || image.hasScreen) && driver.capabilities.screenshots,
    rtcBase: request.rtcBaseMs === null ? null : new Date(request.rtcBaseMs),
    shares: [...shares],
    origin: null,
    owner: request.owner,
    isEgressUp: false,
    verdict: null,
    isRemoved: false,
    createdAt: new Date(),
    readyAt: null,
    endedAt: null,
  };
}

/**
 * Throws `MACHINE_CAPABILITY_MISSING` when the driver cannot give what was asked for: a screen, a group. (An image that
 * has a screen does without.)
 */
export function requireCapabilities({ screen }: StartMachineRequest, peer: MachinePeer | null, driver: VmDriver): void {
  const { screenshots, networks = false } = driver.capabilities;
  if (screen && !screenshots) throw missing(driver, 'has no machines with a screen');
  if (peer !== null && !networks) throw missing(driver, 'wires no machines together');
}

const missing = ({ name }: VmDriver, what: string) =>
  vmError('MACHINE_CAPABILITY_MISSING', `the ${name} driver ${what}`);
