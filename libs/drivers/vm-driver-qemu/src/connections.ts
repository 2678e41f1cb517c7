import { chown, mkdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import { INSTANCE_SOCKETS, instanceFile, peerSocket, type VmNetwork } from '@inquest/vm-driver';
import type { MonitorUser } from '@inquest/vm-instance';

/** A path whose readability is that of a directory with all that reading it takes: the permission to search it, too. */
export const insideOf = (directory: string): string => `${directory}/.`;

/** Makes the directory of a network's sockets, which only the monitors may enter; it may be there from another machine. */
export async function makeNetworkDirectory({ directory }: VmNetwork, user: MonitorUser | null): Promise<void> {
  await mkdir(path.dirname(directory), { recursive: true, mode: 0o711 });
  await mkdir(directory, { mode: 0o700 }).catch((e: NodeJS.ErrnoException) => {
    if (e.code !== 'EEXIST') throw e;
  });
  if (user !== null) await chown(directory, user.uid, user.gid);
}

/** Removes the sockets of an instance, which QEMU leaves behind when it is killed. */
export async function unlinkMonitorSockets(directory: string): Promise<void> {
  await Promise.all(INSTANCE_SOCKETS.map((file) => unlinkIfThere(instanceFile(directory, file))));
}

/** Removes the sockets on which a machine received, which QEMU leaves behind. */
export async function unlinkNetworkSockets(network: VmNetwork | undefined): Promise<void> {
  if (network === undefined) return;
  const { directory, index, neighbours } = network;
  await Promise.all(neighbours.map((neighbour) => unlinkIfThere(peerSocket(directory, index, neighbour))));
}

async function unlinkIfThere(socketPath: string): Promise<void> {
  await unlink(socketPath).catch((e: NodeJS.ErrnoException) => {
    if (e.code !== 'ENOENT') throw e;
  });
}
