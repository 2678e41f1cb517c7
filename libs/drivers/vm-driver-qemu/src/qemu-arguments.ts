import {
  instanceFile,
  overlayFile,
  peerHardwareAddress,
  peerSocket,
  type HostCheck,
  type InstanceFile,
  type VmSpec,
} from '@inquest/vm-driver';

/** File descriptor of the readiness monitor in the child: the first after the standard three. */
export const READY_FD = 3;

/** File descriptor of the saved device state in the child, when it has one. */
export const STATE_FD = 4;

/** File descriptor into which the shell that QEMU is started through writes how it ended; QEMU itself does not get it. */
export const STATUS_FD = 5;

/** Name of the virtio-serial port that the guest agent looks for, and its QEMU id (see docs/guest-protocol.md). */
export const MUX_PORT_NAME = 'inquest.mux';

/** The guest's memory as a file. */
export interface MemoryFile {
  readonly path: string;
  /** True: what the guest writes goes into the file. False: it stays with the machine, copied on write. */
  readonly isShared: boolean;
}

/** What decides the arguments besides the machine itself. */
export interface ArgumentOptions {
  readonly accelerator: Exclude<HostCheck['accelerator'], 'none'>;
  readonly translationCacheMib: number;
  /** Null = memory of the process alone. */
  readonly memory: MemoryFile | null;
  /** True when the guest does not boot but continues from saved device state, which the monitor will be told of. */
  readonly isRestored: boolean;
}

/** The complete arguments of QEMU for one machine. Pure: the same input gives the same arguments. */
export function qemuArguments(spec: VmSpec, options: ArgumentOptions): string[] {
  return [
    ...['-name', `${spec.machineId}.${spec.incarnation}`],
    ...platformArguments(spec, options),
    ...memoryArguments(spec, options),
    ...isolationArguments(),
    ...monitorArguments(spec),
    ...serialArguments(spec),
    ...linkArguments(spec),
    ...diskArguments(spec),
    ...witnessArguments(),
    ...screenArguments(spec),
    ...shareArguments(spec),
    ...networkArguments(spec),
    ...bootArguments(spec),
  ];
}

function platformArguments(spec: VmSpec, { accelerator, translationCacheMib }: ArgumentOptions): string[] {
  // Without tb-size the translation cache grows to hundreds of MiB per machine.
  const tcg = ['-accel', `tcg,thread=multi,tb-size=${translationCacheMib}`, '-cpu', 'max'];
  return [
    ...(accelerator === 'kvm' ? ['-accel', 'kvm', '-cpu', 'host'] : tcg),
    ...['-smp', String(spec.cpus)],
    ...['-rtc', `base=${spec.rtcBaseMs === null ? 'utc' : rtcBase(spec.rtcBaseMs)}`],
    ...['-nodefaults', '-no-user-config', '-display', 'none'],
    // The generation id makes a guest kernel reseed its random numbers when the machine is a clone.
    ...['-device', 'vmgenid,guid=auto', '-device', 'virtio-rng-pci'],
  ];
}

/** The memory of every machine has the same name in its saved state, so that each can go on where any other stood. */
function memoryArguments({ memoryMib }: VmSpec, { memory, isRestored }: ArgumentOptions): string[] {
  const size = `${memoryMib}M`;
  const incoming = isRestored ? ['-incoming', 'defer'] : [];
  const backend = `${memory === null ? 'memory-backend-ram' : fileBackend(memory)},id=ram,size=${size}`;
  return ['-object', backend, '-machine', 'q35,memory-backend=ram', '-m', `size=${size}`, ...incoming];
}

const fileBackend = ({ path, isShared }: MemoryFile): string =>
  `memory-backend-file,mem-path=${optionValue(path)},share=${isShared ? 'on' : 'off'}`;

/** Seconds precision is what `-rtc` takes. */
const rtcBase = (atMs: number): string => new Date(atMs).toISOString().slice(0, 19);

function isolationArguments(): string[] {
  return ['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'];
}

/**
 * Two monitors on sockets that QEMU serves, so that a restarted service can find them by name and take the machine
 * over; once asked for events, QEMU logs them also while nobody is connected. A served socket does not tell when it is there, so a third monitor on an inherited descriptor does: its
 * greeting can only come after the sockets listen. `-S` keeps the guest from running until the recorder is attached.
 */
function monitorArguments({ directory }: VmSpec): string[] {
  return [
    '-S',
    ...servedSocket('recorder', instanceFile(directory, 'recorderSocket'), loggedTo(directory, 'eventsLog')),
    ...servedSocket('control', instanceFile(directory, 'controlSocket')),
    ...['-chardev', `socket,id=ready,fd=${READY_FD}`],
    ...['recorder', 'control', 'ready'].flatMap((id) => ['-mon', `chardev=${id},mode=control`]),
  ];
}

/**
 * The console is ttyS0 of the guest, and a file of which nothing is lost while no service is there to read it. A shell may
 * be on ttyS1, of which the evidence takes no notice.
 */
const serialArguments = ({ directory }: VmSpec): string[] => [
  ...['-chardev', `file,id=console,path=${optionValue(instanceFile(directory, 'consoleLog'))}`],
  ...['-serial', 'chardev:console'],
  ...servedSocket('shell', instanceFile(directory, 'shellSocket')),
  ...['-serial', 'chardev:shell'],
];

// Only a port with an id makes QEMU send VSERPORT_CHANGE, the host's best sign of the agent's life and death.
const linkArguments = ({ directory }: VmSpec): string[] => [
  ...servedSocket('mux', instanceFile(directory, 'muxSocket')),
  ...['-device', 'virtio-serial-pci'],
  ...['-device', `virtserialport,id=${MUX_PORT_NAME},chardev=mux,name=${MUX_PORT_NAME}`],
];

/** Errors of the host's disk pause the machine (resumable, and an event says so) instead of reaching the guest as data loss. */
function diskArguments({ directory, incarnation, disk }: VmSpec): string[] {
  const isOwn = disk.isWritable === true;
  const node = isOwn ? 'disk' : 'overlay';
  const drive = {
    driver: isOwn ? disk.baseFormat : 'qcow2',
    'node-name': node,
    discard: 'unmap',
    // QEMU locks what it writes: a second writer, or a machine with an overlay on it, does not start.
    file: { driver: 'file', filename: isOwn ? disk.basePath : overlayFile(directory, incarnation) },
  };
  return [
    ...['-blockdev', JSON.stringify(drive)],
    ...['-device', `virtio-blk-pci,drive=${node},werror=stop,rerror=stop`],
  ];
}

/**
 * Devices and actions whose only use is that the host learns how the guest ended. `panic=none` lets the kernel finish
 * its panic text on the console; a watchdog that fires pauses the machine, so that nothing is lost.
 */
function witnessArguments(): string[] {
  return [
    '-no-reboot',
    ...['-action', 'panic=none,watchdog=pause'],
    ...['-device', 'pvpanic-pci', '-device', 'i6300esb'],
  ];
}

/** A tablet tells absolute positions, so that the host points where it means to. 8 MiB of video memory hold 1920 x 1080. */
function screenArguments({ hasScreen = false }: VmSpec): string[] {
  if (!hasScreen) return [];
  return ['VGA,vgamem_mb=8', 'virtio-tablet-pci', 'virtio-keyboard-pci'].flatMap((device) => ['-device', device]);
}

/**
 * `none` passes on what the files are. The other models would show links of the host as empty files; what a guest could
 * do with `none` to a directory that it may write is why it may not write any.
 */
function shareArguments({ shares = [] }: VmSpec): string[] {
  return shares.flatMap(({ tag, path }) => [
    ...['-fsdev', `local,id=${tag},path=${optionValue(path)},security_model=none,readonly=on`],
    ...['-device', `virtio-9p-pci,fsdev=${tag},mount_tag=${tag}`],
  ]);
}

/** A hub of QEMU joins the card with the cables to the neighbours. Nothing of it is a network of the host. */
function networkArguments({ network }: VmSpec): string[] {
  if (network === undefined) return [];
  const { directory, index, neighbours } = network;
  const port = (id: string, end = ''): string[] => ['-netdev', `hubport,id=${id},hubid=0${end}`];
  const cables = neighbours.flatMap((neighbour) => {
    const own = optionValue(peerSocket(directory, index, neighbour));
    const theirs = optionValue(peerSocket(directory, neighbour, index));
    const sockets = `local.type=unix,local.path=${own},remote.type=unix,remote.path=${theirs}`;
    return [
      ...['-netdev', `dgram,id=cable${neighbour},${sockets}`],
      ...port(`port${neighbour}`, `,netdev=cable${neighbour}`),
    ];
  });
  const card = `virtio-net-pci,netdev=card,mac=${peerHardwareAddress(index)},romfile=`;
  return [...port('card'), ...cables, '-device', card];
}

/**
 * loglevel=6 prints notices and worse: the kernel's banner ("Linux version"), by which boots are counted, is one. The rest
 * of a boot is 25 KB of information that cost an emulated guest half a second (measured: 3.1 s of processor without, 3.6
 * s with); from its start on the agent has the console show information, too, for a post-mortem. panic=1 turns a panic
 * into a reset, which ends the machine and with it the wait for its verdict.
 */
function bootArguments({ boot, hostname, hasScreen = false }: VmSpec): string[] {
  const own = [
    // The last console is the one that init writes on, and the evidence must have it.
    ...(hasScreen ? ['console=tty0'] : []),
    'console=ttyS0',
    'loglevel=6',
    'inquest.loglevel=7',
    'panic=1',
    'inquest.root=/dev/vda',
    `inquest.hostname=${hostname}`,
  ];
  return [
    ...['-kernel', boot.kernelPath, '-initrd', boot.initramfsPath],
    ...['-append', [...own, ...boot.commandLine].join(' ')],
  ];
}

const servedSocket = (id: string, path: string, more = ''): string[] => [
  '-chardev',
  `socket,id=${id},path=${optionValue(path)},server=on,wait=off${more}`,
];

const loggedTo = (directory: string, file: InstanceFile): string =>
  `,logfile=${optionValue(instanceFile(directory, file))},logappend=on`;

/** In QEMU's option syntax a comma ends a value; a doubled one is a comma. */
const optionValue = (value: string): string => value.replaceAll(',', ',,');
