import { parseVersionRecord, RECORD_FORMAT_VERSION, type VersionRecord } from '@inquest/image-store';
import type { ImageVersionEntity } from './image-version.entity';

/** As it was recorded at the freeze in the database, which nobody with access to the files can change with them. */
export function recordOf({ name, version, sealedFiles }: ImageVersionEntity): VersionRecord {
  const files = Object.fromEntries(sealedFiles.map(({ file, ...record }) => [file, record]));
  const text = JSON.stringify({ formatVersion: RECORD_FORMAT_VERSION, name, version, files });
  return parseVersionRecord(text, { name, version });
}
