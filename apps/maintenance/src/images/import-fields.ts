import type { ImportDeclaration } from '@inquest/contracts-image';

/** What an import may be made of, for people. */
export const IMPORT_KINDS: readonly { readonly format: ImportDeclaration['format']; readonly title: string }[] = [
  { format: 'qcow2', title: 'qcow2 disk' },
  { format: 'raw', title: 'raw disk, with or without partitions' },
  { format: 'ext4', title: 'ext4 file system' },
  { format: 'tar', title: 'tar of a root, plain or gzip' },
  { format: 'oci', title: 'OCI layout' },
];

/** Names of images. Browsers read a pattern with the flag `v`, so the dash is escaped. */
export const IMAGE_NAME_PATTERN = '[a-z0-9][a-z0-9\\-]{0,31}';
export const MEMORY_MIN_MIB = 128;

const DIGEST = /^(?:sha256:)?([0-9a-f]{64})$/;

/** A digest as the platform takes it, of what a person pasted: with or without `sha256:`, or a line of `sha256sum`. */
export function digestOf(pasted: string): string | null {
  const [first = ''] = pasted.trim().toLowerCase().split(/\s+/);
  const hex = DIGEST.exec(first)?.[1];
  return hex === undefined ? null : `sha256:${hex}`;
}
