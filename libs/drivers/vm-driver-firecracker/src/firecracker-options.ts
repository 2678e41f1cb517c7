import { chooseMonitorUser, type MonitorUser } from '@inquest/vm-instance';

/** How a Firecracker driver is set up; see `compileFirecrackerOptions` for the defaults. */
export interface FirecrackerVmDriverOptions {
  /** Absolute path of the directory whose children are instance directories. Made when missing. */
  readonly instancesRoot: string;
  /** Program name or absolute path. Default: `firecracker`. */
  readonly firecrackerBinary?: string;
  /**
   * Must be able to open /dev/kvm. Null = the user of this process. Only root can choose. Default: 65534 (nobody) when
   * this process is root, else null.
   */
  readonly monitorUser?: MonitorUser | null;
  /** Memory that stays free for the host, in MiB. Default 512. */
  readonly memoryReserveMib?: number;
}

/** The same with everything present. */
export type CompiledFirecrackerOptions = Readonly<Required<FirecrackerVmDriverOptions>>;

/** Fills in the defaults. Throws `VM_HOST_UNSUPPORTED` for a user that this process cannot become. */
export function compileFirecrackerOptions(
  options: FirecrackerVmDriverOptions,
  ownUid: number,
): CompiledFirecrackerOptions {
  return {
    instancesRoot: options.instancesRoot,
    firecrackerBinary: options.firecrackerBinary ?? 'firecracker',
    monitorUser: chooseMonitorUser(options.monitorUser, ownUid),
    memoryReserveMib: options.memoryReserveMib ?? 512,
  };
}
