export { imageStoreError } from './errors';
export { onFileSystem } from './file-system';
export type { FsVerity } from './fs-verity';
export { ImageStore, type BootFiles, type StoredVersion } from './image-store';
export { Staging } from './staging';
export type { HashProgress } from './version-directory';
export { IMAGE_FILE_NAMES, type DiskFormat, type ImageFileName } from './version-files';
export { checkVersionId, versionLabel, type VersionId } from './version-id';
export {
  parseVersionRecord,
  RECORD_FORMAT_VERSION,
  recordedFiles,
  type FileRecord,
  type VersionRecord,
} from './version-record';
