import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { boundedBytes } from './bounded-bytes';
import type { ConversionOptions } from './disk-converter';
import { unsafeSource } from './formats/source-refusal';
import { eachTarEntry, skip, type TarEntry } from './tar-entries';

/** The files of a layout that are read (OCI image specification 1.1, image-layout.md). */
const LAYOUT_FILE = /^(?:oci-layout|index\.json|blobs\/sha256\/[0-9a-f]{64})$/;

/**
 * Unpacks the tar of an OCI layout into a new directory: the files that a layout has, under exactly their names, and
 * nothing else. Throws `IMAGE_SOURCE_UNSAFE` for anything but files, `IMAGE_SOURCE_OVERSIZED`, `IMAGE_SOURCE_INVALID`.
 */
export async function unpackOciLayout(source: Readable, directory: string, options: ConversionOptions): Promise<void> {
  const { maxBytes, signal } = options;
  await mkdir(path.join(directory, 'blobs', 'sha256'), { recursive: true, mode: 0o700 });
  const bounded = boundedBytes('the OCI layout', maxBytes);
  await eachTarEntry(source, [bounded], signal, (entry) => unpackEntry(entry, directory));
}

async function unpackEntry(entry: TarEntry, directory: string): Promise<void> {
  const { name, type } = entry.header;
  const relative = name.replace(/^\.\//, '');
  if (type === 'file' && LAYOUT_FILE.test(relative)) {
    // Made before anything can fail: a stream that makes it itself may do so after the directory was taken away.
    const file = await open(path.join(directory, relative), 'wx', 0o600);
    return pipeline(entry, file.createWriteStream());
  }
  if (type !== 'file' && type !== 'directory') {
    throw unsafeSource(`the tar of the OCI layout has ${JSON.stringify(name.slice(0, 200))}, which is no file`);
  }
  return skip(entry);
}
