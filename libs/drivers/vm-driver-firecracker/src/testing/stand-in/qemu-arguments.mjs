/** Size of QEMU's translation cache, which grows without bound otherwise, in MiB. */
const TRANSLATION_CACHE_MIB = 64;

/**
 * QEMU's arguments for a machine that has what Firecracker's would have, on a bus of QEMU's.
 *
 * @param {import('./configuration.mjs').Configuration} configuration
 * @param {{ backendSocket: string | undefined, monitorFd: number }} options `backendSocket` is vhost-device-vsock's
 * @returns {string[]}
 */
export function qemuArguments(configuration, { backendSocket, monitorFd }) {
  const { vcpu_count: cpus, mem_size_mib: memoryMib } = configuration['machine-config'];
  return [
    ...['-accel', `tcg,thread=multi,tb-size=${TRANSLATION_CACHE_MIB}`, '-cpu', 'max', '-smp', String(cpus)],
    // A vhost-user device shares the guest's memory with its backend.
    ...['-object', `memory-backend-memfd,id=ram,size=${memoryMib}M,share=on`],
    ...['-machine', 'q35,memory-backend=ram', '-m', `size=${memoryMib}M`],
    ...['-nodefaults', '-no-user-config', '-display', 'none'],
    ...['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'],
    // A guest that resets or powers off stops QEMU's processors and no more; the monitor tells which it was.
    ...['-no-reboot', '-no-shutdown'],
    ...['-chardev', 'stdio,id=console,signal=off', '-serial', 'chardev:console'],
    ...['-chardev', `socket,id=monitor,fd=${monitorFd}`, '-mon', 'chardev=monitor,mode=control'],
    ...vsockArguments(backendSocket),
    ...(configuration.entropy === undefined ? [] : ['-device', 'virtio-rng-pci']),
    ...configuration.drives.flatMap(driveArguments),
    ...bootArguments(configuration['boot-source']),
  ];
}

function vsockArguments(backendSocket) {
  if (backendSocket === undefined) return [];
  const socket = `socket,id=vsock,path=${backendSocket.replaceAll(',', ',,')}`;
  return ['-chardev', socket, '-device', 'vhost-user-vsock-pci,chardev=vsock'];
}

function driveArguments({ drive_id: id, path_on_host: filename, is_read_only: isReadOnly }) {
  const drive = { driver: 'raw', 'node-name': id, 'read-only': isReadOnly, file: { driver: 'file', filename } };
  return ['-blockdev', JSON.stringify(drive), '-device', `virtio-blk-pci,drive=${id}`];
}

function bootArguments({ kernel_image_path: kernel, initrd_path: initrd, boot_args: args }) {
  // Firecracker's devices are not on a PCI bus, and QEMU's are.
  const own = args.split(' ').filter((argument) => argument !== 'pci=off');
  return ['-kernel', kernel, ...(initrd === undefined ? [] : ['-initrd', initrd]), '-append', own.join(' ')];
}
