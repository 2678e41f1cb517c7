import { vmDriverError } from '@inquest/vm-driver';

/** The user that machines run as. */
export interface QemuUser {
  readonly uid: number;
  readonly gid: number;
}

/** How a QEMU driver is set up; see `compileQemuOptions` for the defaults. */
export interface QemuVmDriverOptions {
  /** Absolute path of the directory whose children are instance directories. Made when missing. */
  readonly instancesRoot: string;
  /** Program names or absolute paths. */
  readonly qemuBinary?: string;
  readonly qemuImgBinary?: string;
  /** Null = the user of this process. Only root can choose. Default: 65534 (nobody) when this process is root, else null. */
  readonly qemuUser?: QemuUser | null;
  /** Memory that stays free for the host, in MiB. Default 512. */
  readonly memoryReserveMib?: number;
  /** Size of QEMU's translation cache under emulation, in MiB. Default 64. */
  readonly translationCacheMib?: number;
}

/** The same with everything present. */
export type CompiledQemuOptions = Readonly<Required<QemuVmDriverOptions>>;

/** Debian's `nobody`; its group is `nogroup`. It owns nothing on a proper host. */
const NOBODY: QemuUser = { uid: 65534, gid: 65534 };

/** Fills in the defaults. Throws `VM_HOST_UNSUPPORTED` for a user that this process cannot become. */
export function compileQemuOptions(options: QemuVmDriverOptions, ownUid: number): CompiledQemuOptions {
  const isRoot = ownUid === 0;
  const qemuUser = options.qemuUser === undefined ? (isRoot ? NOBODY : null) : options.qemuUser;
  if (qemuUser !== null && !isRoot && qemuUser.uid !== ownUid) {
    throw vmDriverError(
      'VM_HOST_UNSUPPORTED',
      `only root can run machines as uid ${qemuUser.uid}; this process is uid ${ownUid}`,
    );
  }
  return {
    instancesRoot: options.instancesRoot,
    qemuBinary: options.qemuBinary ?? 'qemu-system-x86_64',
    qemuImgBinary: options.qemuImgBinary ?? 'qemu-img',
    qemuUser,
    memoryReserveMib: options.memoryReserveMib ?? 512,
    translationCacheMib: options.translationCacheMib ?? 64,
  };
}
