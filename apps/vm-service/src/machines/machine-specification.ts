import type { MachineId } from '@inquest/kernel';
import type { VmSpec } from '@inquest/vm-driver';
import type { MachineEgress } from '../egress/machine-egress';
import type { LaunchableImage } from './image-resolver';
import { networkOf } from '../peers/machine-peer';
import type { MachinePaths } from './machine-paths';
import type { MachineEntity } from './machine.entity';

/** From the request to the guest's first instruction, in a clone to its agent's first answer; ms. */
export const START_TIMEOUT_MS = 60_000;

/** What a machine without any way out has. */
const NO_EGRESS: Pick<MachineEgress, 'listeners' | 'kernelArguments'> = { listeners: [], kernelArguments: [] };

/** What of a row decides how its machine is started. */
export type SpecifiedMachine = Pick<
  MachineEntity,
  'machineId' | 'incarnation' | 'name' | 'cpus' | 'memoryMib' | 'hasScreen' | 'rtcBase' | 'shares' | 'peer'
>;

/** What the driver is asked to start for one incarnation of a machine. */
export function machineSpecification(
  row: SpecifiedMachine,
  { image, files, isWritable }: LaunchableImage,
  paths: MachinePaths,
  egress = NO_EGRESS,
): VmSpec {
  const machineId = row.machineId as MachineId;
  return {
    machineId,
    incarnation: row.incarnation,
    directory: paths.instance(machineId, row.incarnation),
    evidenceDirectory: paths.evidence(machineId, row.incarnation),
    cpus: row.cpus,
    memoryMib: row.memoryMib,
    boot: {
      kernelPath: files.kernelPath,
      initramfsPath: files.initramfsPath,
      commandLine: [...image.kernelArguments, ...egress.kernelArguments],
    },
    disk: { basePath: files.diskPath, baseFormat: files.diskFormat, isWritable },
    rtcBaseMs: row.rtcBase?.getTime() ?? null,
    hasScreen: row.hasScreen,
    ...(row.peer === null ? {} : { network: networkOf(row.peer, paths.network(row.peer.groupId)) }),
    shares: row.shares.map(({ tag, directory }) => ({ tag, path: directory })),
    hostname: hostnameOf(row),
    listeners: egress.listeners,
    limits: { startTimeoutMs: START_TIMEOUT_MS, overlayBytes: null },
  };
}

/** The name that a machine has inside, made of what it is called. RFC 1123: letters, digits and inner dashes, 63 at most. */
export function hostnameOf({ name, machineId }: Pick<MachineEntity, 'name' | 'machineId'>): string {
  const letters = (name ?? machineId).toLowerCase().replaceAll('_', '-').slice(0, 63);
  return letters.replace(/^-+|-+$/g, '') || 'machine';
}
