import { vmDriverError } from '@inquest/vm-driver';

/** The user that monitors, and with them the machines, run as. */
export interface MonitorUser {
  readonly uid: number;
  readonly gid: number;
}

/** Debian's `nobody`; its group is `nogroup`. It owns nothing on a proper host. */
const NOBODY: MonitorUser = { uid: 65534, gid: 65534 };

/**
 * The user for monitors: the one that is wanted, by default (undefined) `nobody` where this process is root. Null = the
 * user of this process. Throws `VM_HOST_UNSUPPORTED` for a user that this process cannot become.
 */
export function chooseMonitorUser(wanted: MonitorUser | null | undefined, ownUid: number): MonitorUser | null {
  const isRoot = ownUid === 0;
  const user = wanted === undefined ? (isRoot ? NOBODY : null) : wanted;
  if (user === null || isRoot || user.uid === ownUid) return user;
  throw vmDriverError(
    'VM_HOST_UNSUPPORTED',
    `only root can run machines as uid ${user.uid}; this process is uid ${ownUid}`,
  );
}
