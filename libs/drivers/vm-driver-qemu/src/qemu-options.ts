import { chooseMonitorUser, type MonitorUser } from '@inquest/vm-instance';

/** How a QEMU driver is set up; see `compileQemuOptions` for the defaults. */
export interface QemuVmDriverOptions {
  /** Absolute path of the directory whose children are instance directories. Made when missing. */
  readonly instancesRoot: string;
  /** Program names or absolute paths. */
  readonly qemuBinary?: string;
  readonly qemuImgBinary?: string;
  /** Null = the user of this process. Only root can choose. Default: 65534 (nobody) when this process is root, else null. */
  readonly qemuUser?: MonitorUser | null;
  /** Memory that stays free for the host, in MiB. Default 512. */
  readonly memoryReserveMib?: number;
  /** Size of QEMU's translation cache under emulation, in MiB. Default 64. */
  readonly translationCacheMib?: number;
}

/** The same with everything present. */
export type CompiledQemuOptions = Readonly<Required<QemuVmDriverOptions>>;

/** Fills in the defaults. Throws `VM_HOST_UNSUPPORTED` for a user that this process cannot become. */
export function compileQemuOptions(options: QemuVmDriverOptions, ownUid: number): CompiledQemuOptions {
  return {
    instancesRoot: options.instancesRoot,
    qemuBinary: options.qemuBinary ?? 'qemu-system-x86_64',
    qemuImgBinary: options.qemuImgBinary ?? 'qemu-img',
    qemuUser: chooseMonitorUser(options.qemuUser, ownUid),
    memoryReserveMib: options.memoryReserveMib ?? 512,
    translationCacheMib: options.translationCacheMib ?? 64,
  };
}
