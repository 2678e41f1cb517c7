import type { VmSpec } from '@inquest/vm-driver';
import { firecrackerFile } from './firecracker-files';

/** Every guest is 3 on its own bus, the first free context id (linux/vm_sockets.h: 0 to 2 have meanings of their own). */
export const GUEST_CID = 3;

/** The file that `--config-file` names. The names are those of Firecracker's API (v1.0 and later). */
export interface FirecrackerConfiguration {
  readonly 'boot-source': {
    readonly kernel_image_path: string;
    readonly initrd_path?: string;
    readonly boot_args: string;
  };
  readonly drives: readonly {
    readonly drive_id: string;
    readonly path_on_host: string;
    readonly is_root_device: boolean;
    readonly is_read_only: boolean;
    readonly cache_type: 'Unsafe' | 'Writeback';
  }[];
  readonly 'machine-config': { readonly vcpu_count: number; readonly mem_size_mib: number };
  readonly vsock?: { readonly guest_cid: number; readonly uds_path: string };
  readonly entropy?: Record<string, never>;
}

/** The configuration of one machine on the disk `diskPath`. Pure. No network card: none is asked for. */
export function firecrackerConfiguration(spec: VmSpec, diskPath: string): FirecrackerConfiguration {
  const { boot, disk, cpus, memoryMib, directory } = spec;
  return {
    'boot-source': {
      kernel_image_path: boot.kernelPath,
      initrd_path: boot.initramfsPath,
      boot_args: bootArguments(spec),
    },
    drives: [
      {
        drive_id: 'root',
        path_on_host: diskPath,
        is_root_device: true,
        is_read_only: false,
        // A copy is thrown away with its machine. What stays has to reach the disk when the guest says so.
        cache_type: disk.isWritable === true ? 'Writeback' : 'Unsafe',
      },
    ],
    'machine-config': { vcpu_count: cpus, mem_size_mib: memoryMib },
    vsock: { guest_cid: GUEST_CID, uds_path: firecrackerFile(directory, 'vsock') },
    entropy: {},
  };
}

/** The complete arguments of Firecracker for one machine. Pure. */
export function firecrackerArguments(directory: string): string[] {
  return [
    '--no-api',
    ...['--config-file', firecrackerFile(directory, 'configuration')],
    // Without a path its log goes to standard output, which is the guest's console.
    ...['--log-path', firecrackerFile(directory, 'log'), '--level', 'Error'],
  ];
}

/**
 * reboot=k makes the kernel restart through the keyboard controller, which is how Firecracker notices (on x86); the
 * controller has no keyboard, so the kernel need not look for one. There is no PCI bus unless one is asked for. The other
 * arguments are those of the QEMU driver, for the same reasons.
 */
function bootArguments({ boot, hostname }: VmSpec): string {
  const own = [
    'console=ttyS0',
    'reboot=k',
    'pci=off',
    'i8042.noaux',
    'i8042.nomux',
    'i8042.dumbkbd',
    'loglevel=6',
    'inquest.loglevel=7',
    'panic=1',
    'inquest.root=/dev/vda',
    `inquest.hostname=${hostname}`,
  ];
  return [...own, ...boot.commandLine].join(' ');
}
