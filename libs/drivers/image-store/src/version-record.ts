import { imageStoreError } from './errors';
import { isImageFileName, type ImageFileName } from './version-files';
import { versionLabel, type VersionId } from './version-id';

/** What identifies one file of a sealed version. 64-bit numbers are decimal text: JSON numbers would round them. */
export interface FileRecord {
  /** `sha256:` and 64 lower-case hex characters. */
  readonly digest: string;
  readonly sizeBytes: number;
  readonly inode: string;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
  /** Permission bits, e.g. `0444`. */
  readonly mode: string;
  /** The kernel's digest of a file with fs-verity; null or absent where that is not available. */
  readonly verityDigest?: string | null;
}

/** What was recorded when a version was sealed. Every launch compares the files with it. */
export interface VersionRecord extends VersionId {
  readonly formatVersion: typeof RECORD_FORMAT_VERSION;
  readonly files: Readonly<Partial<Record<ImageFileName, FileRecord>>>;
  /** `enabled`, or `not available: ` and why; absent in records that are made of something else than `seal`. */
  readonly fsVerity?: string;
}

export const RECORD_FORMAT_VERSION = 1;

const FILE_PATTERNS: Readonly<Record<Exclude<keyof FileRecord, 'sizeBytes' | 'verityDigest'>, RegExp>> = {
  digest: /^sha256:[0-9a-f]{64}$/,
  inode: /^[0-9]{1,20}$/,
  mtimeNs: /^-?[0-9]{1,20}$/,
  ctimeNs: /^-?[0-9]{1,20}$/,
  mode: /^0[0-7]{3}$/,
};

/** The files of a record, in a fixed order. */
export const recordedFiles = ({
  files,
}: Pick<VersionRecord, 'files'>): readonly (readonly [ImageFileName, FileRecord])[] =>
  Object.entries(files) as [ImageFileName, FileRecord][];

/** Reads `record.json`. Throws `IMAGE_RECORD_INVALID` unless it is a whole record of exactly this version. */
export function parseVersionRecord(text: string, id: VersionId): VersionRecord {
  const record = parseJson(text);
  if (!isVersionRecord(record) || record.name !== id.name || record.version !== id.version) {
    throw imageStoreError('IMAGE_RECORD_INVALID', `record.json of image ${versionLabel(id)} is not a record of it`);
  }
  return record;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isVersionRecord(value: unknown): value is VersionRecord {
  if (!isObject(value) || value['formatVersion'] !== RECORD_FORMAT_VERSION || !isObject(value['files'])) return false;
  const files = Object.entries(value['files']);
  return files.length > 0 && files.every(([name, file]) => isImageFileName(name) && isFileRecord(file));
}

const isFileRecord = (value: unknown): value is FileRecord =>
  isObject(value) &&
  Number.isSafeInteger(value['sizeBytes']) &&
  isDigestOrNone(value['verityDigest']) &&
  Object.entries(FILE_PATTERNS).every(([key, pattern]) => {
    const field = value[key];
    return typeof field === 'string' && pattern.test(field);
  });

const isDigestOrNone = (value: unknown): boolean =>
  value == null || (typeof value === 'string' && FILE_PATTERNS.digest.test(value));

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
