import path from 'node:path';

/**
 * Every file of an instance directory, named here and nowhere else. The directory itself belongs to the driver's user;
 * only `vmm/` is writable by the (unprivileged) user that the monitor runs as, so that a monitor under a guest's
 * control can forge neither the record nor the evidence.
 */
export const INSTANCE_FILES = {
  /** `InstanceRecord`: whose instance this is, and which process it has. */
  record: 'instance.json',
  /** The `VmSpec` that it was started with, without its listeners, for a service that did not start it. */
  specification: 'specification.json',
  /** The first 64 KiB of the monitor's error output. */
  stderr: 'stderr.log',
  /** The end of the error output, when more than 64 KiB came. */
  stderrTail: 'stderr.tail.log',
  /** How the monitor ended, as the process that it is started through says, so that also a later service can read it. */
  exitStatus: 'exit-status',
  /** Working directory of the monitor; everything below is its own. */
  vmm: 'vmm',
  /** QMP monitor that only reads events. */
  recorderSocket: 'vmm/qmp-recorder.sock',
  /** QMP monitor for commands. */
  controlSocket: 'vmm/qmp-control.sock',
  /** What the recorder's monitor has sent, written by the monitor itself: events are in it also while nobody listens. */
  eventsLog: 'vmm/events.qmp',
  /** What the guest has written on its serial console, written by the monitor itself. */
  consoleLog: 'vmm/console.log',
  /** The guest's second serial port, for a shell. */
  shellSocket: 'vmm/shell.sock',
  /** The virtio-serial port that carries the guest link. */
  muxSocket: 'vmm/mux.sock',
  /** Memory of a machine that shall become a template. */
  memory: 'vmm/memory.ram',
  /** Receives the device state while a template is made. */
  stateSocket: 'vmm/state.sock',
} as const;

export type InstanceFile = keyof typeof INSTANCE_FILES;

/** Sockets that the monitor leaves behind when it ends. */
export const INSTANCE_SOCKETS = [
  'recorderSocket',
  'controlSocket',
  'shellSocket',
  'muxSocket',
  'stateSocket',
] as const satisfies InstanceFile[];

/** Where a file of an instance is. */
export const instanceFile = (directory: string, file: InstanceFile): string =>
  path.join(directory, INSTANCE_FILES[file]);

/**
 * The overlay disk of one incarnation. The incarnation is in the name because image locks are per inode: a name that
 * is unlinked and made again would let two lives of a machine run on what looks like one disk.
 */
export const overlayFile = (directory: string, incarnation: number): string =>
  path.join(directory, INSTANCE_FILES.vmm, `overlay.${incarnation}.qcow2`);

/** Longest path of a unix socket in bytes: `sun_path` of 108 bytes less its NUL, unix(7). */
export const SOCKET_PATH_MAX_BYTES = 107;
