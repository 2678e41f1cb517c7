import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { boundedBytes } from './bounded-bytes';
import type { ContentFiles } from './content-files';
import type { RootTree, TreeAttributes } from './formats/root-tree';
import { invalidSource, unsafeSource } from './formats/source-refusal';
import { eachTarEntry, skip, type TarEntry } from './tar-entries';

/** RFC 1952. */
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);
// OCI image specification 1.1, layer.md: what a layer takes away from those below it.
const WHITEOUT_PREFIX = '.wh.';
const OPAQUE_WHITEOUT = '.wh..wh..opq';
/** Headers and padding of an archive, beside what its files hold: half a kilobyte to three for each of them. */
const ARCHIVE_OVERHEAD = 2;

export interface ArchiveOptions {
  readonly isGzip: boolean;
  readonly tree: RootTree;
  readonly contents: ContentFiles;
  /** Of everything that is unpacked, headers and padding included, twice this is read at most. */
  readonly maxBytes: number;
  /** A layer of an OCI image: entries named `.wh.*` remove what lower layers have. */
  readonly hasWhiteouts: boolean;
  readonly signal: AbortSignal;
}

/**
 * Reads a tar (plain or gzip) into a tree. Throws `IMAGE_SOURCE_UNSAFE` for paths and links that lead out of it and for
 * device nodes, `IMAGE_SOURCE_OVERSIZED` for a bomb, `IMAGE_SOURCE_INVALID` for an archive that is cut or damaged.
 */
export function readArchive(source: Readable, options: ArchiveOptions): Promise<void> {
  const unpacked = boundedBytes('what the archive unpacks to', options.maxBytes * ARCHIVE_OVERHEAD);
  const through = options.isGzip ? [createGunzip(), unpacked] : [unpacked];
  return eachTarEntry(source, through, options.signal, (entry) => addEntry(entry, options));
}

/** True when a file begins like gzip. */
export async function isGzip(file: FileHandle): Promise<boolean> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(GZIP_MAGIC.length), 0, GZIP_MAGIC.length, 0);
  return bytesRead === GZIP_MAGIC.length && buffer.equals(GZIP_MAGIC);
}

async function addEntry(entry: TarEntry, options: ArchiveOptions): Promise<void> {
  const { tree, contents } = options;
  const { name, type, linkname } = entry.header;
  const attributes = attributesOf(entry.header);
  if (options.hasWhiteouts && applyWhiteout(tree, name)) return skip(entry);
  switch (type) {
    case 'file':
    case 'contiguous-file':
      return tree.addFile(name, { attributes, ...(await contents.keep(entry)) });
    case 'directory':
      tree.addDirectory(name, attributes);
      return skip(entry);
    case 'symlink':
      tree.addSymlink(name, linkname ?? '', attributes);
      return skip(entry);
    case 'link':
      tree.addHardLink(name, linkname ?? '');
      return skip(entry);
    default:
      throw unsafeSource(
        `the archive has ${JSON.stringify(name.slice(0, 200))}, a ${type ?? 'strange entry'}; leave out /dev, the guest makes its own`,
      );
  }
}

/** What an entry takes away, if it is a whiteout. */
function applyWhiteout(tree: RootTree, name: string): boolean {
  const cut = name.lastIndexOf('/') + 1;
  const [parent, last] = [name.slice(0, cut), name.slice(cut)];
  if (!last.startsWith(WHITEOUT_PREFIX)) return false;
  if (last === OPAQUE_WHITEOUT) tree.clear(parent);
  else tree.remove(`${parent}${last.slice(WHITEOUT_PREFIX.length)}`);
  return true;
}

const attributesOf = ({ mode, uid, gid, mtime }: TarEntry['header']): TreeAttributes => ({
  mode: mode & 0o7777,
  uid: idOf(uid),
  gid: idOf(gid),
  mtimeS: Math.min(Math.max(0, Math.floor(mtime.getTime() / 1000)), LAST_TIME_S),
});

/** The time field of an ext4 inode without its extra bits is a signed 32-bit number. */
const LAST_TIME_S = 0x7fff_ffff;

/** An ext4 inode has 32 bits for an owner. */
function idOf(id: number): number {
  if (Number.isSafeInteger(id) && id >= 0 && id <= 0xffff_fffe) return id;
  throw invalidSource(`the archive has an entry of owner ${id}`);
}
