import { imageStoreError } from './errors';

const NAME_PATTERN = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** One immutable version of a named image. */
export interface VersionId {
  readonly name: string;
  readonly version: number;
}

/** `name:version`, as images are written everywhere. */
export const versionLabel = ({ name, version }: VersionId): string => `${name}:${version}`;

/** Checks a version id before it becomes a path. Throws `IMAGE_NAME_INVALID` or `IMAGE_VERSION_INVALID`; repairs nothing. */
export function checkVersionId({ name, version }: VersionId): VersionId {
  if (typeof name !== 'string' || !NAME_PATTERN.test(name)) {
    const shown = JSON.stringify(String(name).slice(0, 80));
    throw imageStoreError('IMAGE_NAME_INVALID', `${shown} is not a valid image name (expected ${NAME_PATTERN.source})`);
  }
  if (!Number.isSafeInteger(version) || version < 1) {
    throw imageStoreError(
      'IMAGE_VERSION_INVALID',
      `${version} is not a version of image ${name}: not a positive integer`,
    );
  }
  return { name, version };
}

/** The version that a directory entry of the store stands for, or null for anything that the store did not make. */
export function versionIdFrom(name: string, directory: string): VersionId | null {
  return NAME_PATTERN.test(name) && /^[1-9][0-9]{0,14}$/.test(directory) ? { name, version: Number(directory) } : null;
}
