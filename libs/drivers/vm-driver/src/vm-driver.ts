import type { MachineId } from '@inquest/kernel';
import type { VmExit, VmHandle, VmRecording } from './vm-handle';
import type { VmSpec } from './vm-specification';

/** Optional powers of a driver; each true one comes with a narrowing interface. */
export interface VmDriverCapabilities {
  /** Machines can be frozen into templates and cloned from them: `TemplateDriver`. */
  readonly templates: boolean;
  /** Some machines of this driver may have a display. Whether one does is in its handle's capabilities. */
  readonly screenshots: boolean;
  /** Some machines of this driver may have host-driven input. */
  readonly input: boolean;
  /** Machines can read directories of the host: `ShareDriver`. Absent = false. */
  readonly shares?: boolean;
  /** A machine can be copied while it runs: `CopyDriver`. Absent = false. */
  readonly copies?: boolean;
  /** Machines have a second serial port: `SerialShell`. Absent = false. */
  readonly serialShells?: boolean;
  /** Machines can be wired together: `VmSpec.network`. Absent = false. */
  readonly networks?: boolean;
  /** Machines of an earlier process can be taken over: `AdoptingDriver`. Absent = false. */
  readonly adoption?: boolean;
}

/** What will run the guests' instructions, and how that was found out. */
export interface HostCheck {
  readonly accelerator: 'kvm' | 'tcg' | 'none';
  /** One sentence for a person: why this accelerator and not a faster one. */
  readonly reason: string;
  /** The monitor's own version line. */
  readonly version: string;
}

/** What `reapOrphans` found and did about one instance of an earlier life. */
export interface ReapedInstance {
  /** Null when the instance's record is missing or unreadable. */
  readonly machineId: MachineId | null;
  readonly incarnation: number | null;
  readonly directory: string;
  /** The monitor that was still running; null when only files were left. */
  readonly pid: number | null;
  /** True when no process of the instance is left: it was seen to end, or there was none. */
  readonly observedGone: boolean;
  /** How the monitor ended, where the driver can tell of one that is not its child; null = not known. */
  readonly exit: Pick<VmExit, 'code' | 'signal' | 'atMs'> | null;
  /** Of the evidence, which was completed from what the monitor itself has recorded; null where the driver cannot do that. */
  readonly recording: VmRecording | null;
}

/** What `destroyInstance` saw, never merely what it asked for. */
export interface DestroyedInstance {
  /** No process of the instance is left. */
  readonly killed: boolean;
  /** A signal had to be sent. */
  readonly signalled: boolean;
  /** The instance directory is not there any more. */
  readonly directoryRemoved: boolean;
}

/**
 * One kind of hypervisor on this host. All machines of one driver live under one instances root, each in a direct
 * child of it; a second driver on the same root sees the first one's machines as orphans.
 */
export interface VmDriver {
  readonly name: 'qemu' | 'firecracker' | 'fake';
  readonly capabilities: VmDriverCapabilities;

  /**
   * Finds out by trying what this host can run, and answers the same until the host reboots or its /dev/kvm changes. Rejects with
   * `VM_HOST_UNSUPPORTED` when it can run nothing, and with `OPERATION_ABORTED` when `signal` aborts.
   * Leaves nothing running; a check that was given up ends by itself within seconds.
   */
  checkHost(signal: AbortSignal): Promise<HostCheck>;

  /**
   * Resolves once the guest executes instructions, which is long before its agent answers; the handshake is the
   * caller's. Evidence is recorded from before the first instruction. After it resolved, `signal` has no effect.
   *
   * On rejection nothing is left: no process, socket, overlay or instance directory (evidence files may stay).
   * Rejects with `VM_SPEC_INVALID`, `VM_INSTANCE_EXISTS` (the existing instance is not touched),
   * `VM_HOST_UNSUPPORTED`, `VM_HOST_MEMORY_EXHAUSTED`, `VM_FILE_UNREADABLE`, `VM_OVERLAY_FAILED`, `VM_START_FAILED`,
   * `VM_START_TIMEOUT`, or `OPERATION_ABORTED` as soon as `signal` aborts and the teardown is done. Only
   * `VM_INSTANCE_LEFTOVER` means that something was left; its message says what.
   */
  start(spec: VmSpec, signal: AbortSignal): Promise<VmHandle>;

  /**
   * Ends and removes one instance, whether or not this process ever knew it: SIGKILL to the group, wait until it is
   * observed gone, unlink sockets, remove the directory. Idempotent; a directory that does not exist is destroyed
   * already. When the process cannot be seen to end, the directory stays. Rejects with `VM_SPEC_INVALID` for a path that is not a
   * direct child of the instances root, and touches nothing then.
   */
  destroyInstance(directory: string): Promise<DestroyedInstance>;

  /**
   * Ends and removes every instance under the root that no handle of this driver owns, and names each. Machines of
   * this driver that run or are being started are left alone. Called before the first `start` of a process.
   */
  reapOrphans(signal: AbortSignal): Promise<readonly ReapedInstance[]>;
}

/** Injection token for the one driver of a service. */
export const VM_DRIVER = Symbol('VM_DRIVER');
