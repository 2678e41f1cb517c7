import type { DomainError } from '@inquest/kernel';
import { imageStoreError } from './errors';
import { versionLabel, type VersionId } from './version-id';

// One place for each sentence that several methods say about a version.

export const alreadyThere = (id: VersionId): DomainError =>
  imageStoreError('IMAGE_VERSION_EXISTS', `image ${versionLabel(id)} is already in the store`, idDetails(id));

export const notInStore = (id: VersionId): DomainError =>
  imageStoreError('IMAGE_VERSION_MISSING', `image ${versionLabel(id)} is not in the store of this node`, idDetails(id));

export const missingFile = (id: VersionId, file: string): DomainError =>
  imageStoreError('IMAGE_FILE_MISSING', `image ${versionLabel(id)} lacks ${file}`, { ...idDetails(id), file });

export function changedFile(id: VersionId, file: string, changes: readonly string[]): DomainError {
  const message = `${file} of image ${versionLabel(id)} is not what was frozen: ${changes.join('; ')}`;
  return imageStoreError('IMAGE_FILE_CHANGED', message, { ...idDetails(id), file });
}

export function digestMismatch(id: VersionId, file: string, recorded: string, found: string): DomainError {
  const message = `${file} of image ${versionLabel(id)} was recorded as ${recorded} and is ${found}; every machine on it is suspect`;
  return imageStoreError('IMAGE_DIGEST_MISMATCH', message, { ...idDetails(id), file, recorded, found });
}

const idDetails = ({ name, version }: VersionId) => ({ name, version });
