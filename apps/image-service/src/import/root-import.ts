import { mkdir, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { RootTree } from './formats/root-tree';
import { invalidSource } from './formats/source-refusal';
import { isGzip, readArchive } from './archive-reader';
import { ContentFiles } from './content-files';
import { readOciLayout, type LayerOptions } from './oci-reader';
import { writeTreeDisk } from './tree-disk';

/** A desktop has a quarter of a million files. */
const MAX_ENTRIES = 1_000_000;
/** What the guest agent starts as the system's first process once the root is mounted. */
const INIT_PROGRAM = '/sbin/init';

export interface RootImportOptions {
  /** An empty directory of ours, on the file system of the disk. */
  readonly workDirectory: string;
  readonly diskBytes: number | null;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Makes a raw ext4 disk of a root tar (plain or gzip). Throws what `readArchive` and `writeTreeDisk` throw. */
export function diskOfTar(archive: string, disk: string, options: RootImportOptions): Promise<void> {
  return diskOfTree(disk, options, async (layer) => {
    const file = await open(archive, 'r');
    try {
      const bytes = file.createReadStream({ start: 0, autoClose: false });
      await readArchive(bytes, { ...layer, isGzip: await isGzip(file), hasWhiteouts: false });
    } finally {
      await file.close();
    }
  });
}

/** Makes a raw ext4 disk of an image of an OCI layout. Throws what `readOciLayout` throws besides. */
export const diskOfOciLayout = (
  layout: string,
  digest: string,
  disk: string,
  options: RootImportOptions,
): Promise<void> => diskOfTree(disk, options, (layer) => readOciLayout(layout, digest, layer));

async function diskOfTree(
  disk: string,
  options: RootImportOptions,
  fill: (layer: LayerOptions) => Promise<void>,
): Promise<void> {
  const { workDirectory, maxBytes, signal } = options;
  const contentDirectory = path.join(workDirectory, 'contents');
  await mkdir(contentDirectory, { mode: 0o700 });
  const contents = new ContentFiles(contentDirectory, maxBytes);
  const tree = new RootTree(MAX_ENTRIES);
  await fill({ tree, contents, maxBytes, signal });
  requireInit(tree);
  try {
    await writeTreeDisk(disk, { ...options, tree, contents });
  } finally {
    await rm(contentDirectory, { recursive: true, force: true });
  }
}

/** Without one the smoke boot would end in a panic that says less. */
function requireInit(tree: RootTree): void {
  if (tree.find(INIT_PROGRAM)?.kind !== 'file') throw invalidSource(`the root has no ${INIT_PROGRAM}`);
}
