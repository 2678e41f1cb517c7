/**
 * The kernel modules that a guest needs, by name. What the kernel has built in is left out when they are collected.
 */

/** Loaded in every guest, in this order, each after the modules that it depends on. */
export const BASE_MODULES = [
  { name: 'virtio_pci', required: true },
  { name: 'virtio_blk', required: true },
  { name: 'virtio_console', required: true },
  { name: 'virtio_rng', required: false },
  // Firecracker has no PCI bus by default: it describes its devices in ACPI tables.
  { name: 'virtio_mmio', required: false },
  // ext4 asks for this checksum by a name that only modprobe could resolve; later kernels have it built in.
  { name: 'crc32c_generic', required: false },
  { name: 'ext4', required: true },
];

/** Loaded when a guest has, or is given, a device whose modalias fits the pattern. */
export const ON_DEMAND_MODULES = [
  { device: 'network card', alias: 'virtio:d00000001v*', modules: ['virtio_net'] },
  { device: 'share of the host', alias: 'virtio:d00000009v*', modules: ['9pnet_virtio', '9p'] },
  { device: 'keyboard and tablet', alias: 'virtio:d00000012v*', modules: ['evdev', 'virtio_input'] },
  { device: 'vsock', alias: 'virtio:d00000013v*', modules: ['vmw_vsock_virtio_transport'] },
  // The PCI ids are those of QEMU's docs/specs/pci-ids.rst.
  { device: 'panic notifier', alias: 'pci:v00001B36d00000011sv*', modules: ['pvpanic_pci'] },
  { device: 'panic notifier on the ISA bus', alias: 'acpi:QEMU0001:*', modules: ['pvpanic_mmio'] },
  { device: 'watchdog', alias: 'pci:v00008086d000025ABsv*', modules: ['i6300esb'] },
  { device: 'screen', alias: 'pci:v00001234d00001111sv*', modules: ['bochs'] },
];
