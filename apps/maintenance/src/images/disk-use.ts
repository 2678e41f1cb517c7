import type { ImageVersionView } from '@inquest/contracts-image';

type Sized = Pick<ImageVersionView, 'sizeBytes' | 'isRemoved'>;

/** Sizes of the disks that versions still have, in bytes, as far as they are known. */
export const sizeOfVersions = (versions: readonly Sized[]): number =>
  versions.reduce((sum, { sizeBytes, isRemoved }) => sum + (isRemoved ? 0 : (sizeBytes ?? 0)), 0);

/** The same for all images. */
export const sizeOfImages = (images: readonly { readonly versions: readonly Sized[] }[]): number =>
  images.reduce((sum, { versions }) => sum + sizeOfVersions(versions), 0);
