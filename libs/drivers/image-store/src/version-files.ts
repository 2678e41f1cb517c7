/** Every file that a version may have, named once. */
export const IMAGE_FILE_NAMES = [
  'disk.raw', // the root disk, or
  'disk.qcow2', // the same in qcow2; a version has exactly one of the two
  'vmlinux', // the kernel that QEMU loads
  'initramfs.cpio', // its first file system, with the guest agent as /init
] as const;
export type ImageFileName = (typeof IMAGE_FILE_NAMES)[number];

export const DISK_FORMATS = ['raw', 'qcow2'] as const;
export type DiskFormat = (typeof DISK_FORMATS)[number];

/** The record of a sealed version, in its directory beside the files. */
export const RECORD_FILE_NAME = 'record.json';

/** Where versions are prepared and removed, in the root of the store so that a rename never crosses file systems. */
export const STAGING_DIRECTORY_NAME = '.staging';

/** True for the name of a file that a version may have. */
export const isImageFileName = (name: string): name is ImageFileName =>
  (IMAGE_FILE_NAMES as readonly string[]).includes(name);

/** The format of the one disk among `names`; null when there is none or more than one. */
export function diskFormatOf(names: readonly string[]): DiskFormat | null {
  const [format, another] = DISK_FORMATS.filter((candidate) => names.includes(`disk.${candidate}`));
  return format !== undefined && another === undefined ? format : null;
}
