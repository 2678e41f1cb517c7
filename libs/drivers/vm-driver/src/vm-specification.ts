import type { GuestStreamHandler } from '@inquest/guest-link';
import type { MachineId } from '@inquest/kernel';

/** Formats of a base disk. `as const` list and union are one concept. */
export const DISK_FORMATS = ['raw', 'qcow2'] as const;
export type DiskFormat = (typeof DISK_FORMATS)[number];

/** What boots: files that the driver opens read-only and never writes. */
export interface VmBoot {
  /** Absolute path of an uncompressed Linux kernel (`vmlinux`). */
  readonly kernelPath: string;
  /** Absolute path of the initramfs whose `/init` is the guest agent. */
  readonly initramfsPath: string;
  /** Kernel arguments of the image, one per element, added after the driver's own. Printable ASCII without blanks. */
  readonly commandLine: readonly string[];
}

/** The disk below the machine's overlay. The driver never writes one that is frozen, not even with a broken guest. */
export interface VmDisk {
  /** Absolute path. */
  readonly basePath: string;
  readonly baseFormat: DiskFormat;
  /**
   * The machine writes the disk itself, without an overlay: an open working copy under maintenance. Nothing else may have
   * it open then. Default: false.
   */
  readonly isWritable?: boolean;
}

/** Bounds that the host keeps whatever the guest does. */
export interface VmLimits {
  /** How long `start` may take until the guest's first instruction, in ms. */
  readonly startTimeoutMs: number;
  /** Largest size of the overlay file, in bytes; the machine is paused with an I/O error at it. Null = the disk's own size. */
  readonly overlayBytes: number | null;
}

/** A port of the host that the guest may connect to, served from before the guest's first instruction. */
export interface VmListener {
  readonly port: number;
  readonly handler: GuestStreamHandler;
}

/** A directory of the host that the guest may read, and never write. */
export interface VmShare {
  /** By which the guest mounts it: 1 to 31 lower-case letters and digits, starting with a letter. */
  readonly tag: string;
  /** Absolute path of the directory. The monitor's user must be able to read it. */
  readonly path: string;
}

/**
 * A network of some machines of this host and nobody else. Each pair of neighbours is joined by two sockets in
 * `directory`, whose names follow from their numbers, so that two machines cannot disagree about them; the guest agent
 * gives the card the address `peerAddress(index)`. A neighbour that is not there, or comes back, disturbs nobody else.
 */
export interface VmNetwork {
  /** Absolute path, the same for all machines of the network; made when missing. Whoever removes it knows that none is left. */
  readonly directory: string;
  /** This machine's number, 1 to 254. */
  readonly index: number;
  /** The numbers of its neighbours. What comes from one goes to the others too, so they must form a tree. */
  readonly neighbours: readonly number[];
}

/** Everything one life of a machine needs. Plain data except for the listeners' handlers; the driver keeps no reference to its arrays. */
export interface VmSpec {
  readonly machineId: MachineId;
  /** Which life of the machine this is; counts from 1. */
  readonly incarnation: number;
  /**
   * Absolute path of the instance directory: a direct child of the driver's instances root that does not exist yet.
   * The driver makes it, owns all that is in it (see `INSTANCE_FILES`), and removes it in `destroyInstance`.
   */
  readonly directory: string;
  /** Absolute path; made when missing. Outlives the machine: the driver adds files to it and removes none. */
  readonly evidenceDirectory: string;
  /** Virtual processors, 1 to 64. */
  readonly cpus: number;
  /** Guest memory in MiB, 64 to 1048576. */
  readonly memoryMib: number;
  readonly boot: VmBoot;
  readonly disk: VmDisk;
  /** The guest's clock at its first instruction, in ms since the Unix epoch; null = the host's clock. */
  readonly rtcBaseMs: number | null;
  /**
   * True for a machine with a screen, a pointer and a keyboard, where its driver has such machines; the handle says what it
   * got. Absent = false: a guest without a screen boots faster.
   */
  readonly hasScreen?: boolean;
  /** Where the driver has shares. A machine with some can be no template and no clone. Absent = none. */
  readonly shares?: readonly VmShare[];
  /** Where the driver has networks. A machine on one can be no template and no clone. Absent = no network card. */
  readonly network?: VmNetwork;
  /** Host name that the guest agent gives the guest: 1 to 63 letters, digits and inner dashes (RFC 1123). */
  readonly hostname: string;
  /** Bound before the guest's first instruction: a guest that is refused once may never try again. */
  readonly listeners: readonly VmListener[];
  readonly limits: VmLimits;
  /** True for a machine that shall become a template: its memory is then a file on the host. Absent = false. */
  readonly isCapturable?: boolean;
}
