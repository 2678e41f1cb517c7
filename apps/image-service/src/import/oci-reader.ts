import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';
import { isGzip, readArchive, type ArchiveOptions } from './archive-reader';
import {
  declaredManifest,
  guestManifest,
  isOciIndex,
  MAX_OCI_DOCUMENT_BYTES,
  parseOciIndex,
  parseOciManifest,
  type OciDescriptor,
} from './formats/oci-layout';
import { invalidSource, oversizedSource } from './formats/source-refusal';
import { openBelow } from './import-directory';
import { requireDigest } from './take-in';

export type LayerOptions = Pick<ArchiveOptions, 'tree' | 'contents' | 'maxBytes' | 'signal'>;

/**
 * Lays the layers of one image of an OCI layout over one another. `digest` is that of its manifest (or of the index that
 * leads to it); every blob is checked against the digest that points to it, so that it vouches for all of them. Throws
 * what the parsers of the layout and `readArchive` throw, `IMAGE_SOURCE_DIGEST_WRONG` and `IMAGE_SOURCE_UNREACHABLE`.
 */
export async function readOciLayout(directory: string, digest: string, options: LayerOptions): Promise<void> {
  const listed = parseOciIndex(await readDocument(directory, 'index.json'));
  let manifest = declaredManifest(listed, digest);
  if (isOciIndex(manifest)) manifest = guestManifest(parseOciIndex(await readBlob(directory, manifest)));
  for (const layer of parseOciManifest(await readBlob(directory, manifest))) await readLayer(directory, layer, options);
}

async function readLayer(directory: string, layer: OciDescriptor, options: LayerOptions): Promise<void> {
  if (layer.sizeBytes > options.maxBytes) throw oversizedSource('a layer', options.maxBytes);
  const file = await openBelow(directory, blobPath(layer));
  try {
    const hash = createHash('sha256');
    const bytes = file.createReadStream({ start: 0, autoClose: false });
    const hashed = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        done(null, chunk);
      },
    });
    bytes.on('error', (e) => hashed.destroy(e));
    await readArchive(bytes.pipe(hashed), { ...options, isGzip: await isGzip(file), hasWhiteouts: true });
    requireDigest(`sha256:${hash.digest('hex')}`, layer.digest, 'a layer of the OCI image');
  } finally {
    await file.close();
  }
}

async function readBlob(directory: string, descriptor: OciDescriptor): Promise<Buffer> {
  const bytes = await readDocument(directory, blobPath(descriptor));
  requireDigest(`sha256:${createHash('sha256').update(bytes).digest('hex')}`, descriptor.digest, 'a manifest');
  return bytes;
}

async function readDocument(directory: string, relative: string): Promise<Buffer> {
  const file = await openBelow(directory, relative);
  try {
    const { size } = await file.stat();
    if (size > MAX_OCI_DOCUMENT_BYTES) throw invalidSource(`${relative} of the OCI layout has ${size} bytes`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The digest was checked to be hexadecimal digits. */
const blobPath = ({ digest }: OciDescriptor): string => `blobs/sha256/${digest.slice('sha256:'.length)}`;
