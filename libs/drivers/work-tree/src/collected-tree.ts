import { open, rm } from 'node:fs/promises';

/** The modes that git knows for what a guest may give: a file, a program, a symbolic link. */
export const ENTRY_MODES = ['100644', '100755', '120000'] as const;
export type EntryMode = (typeof ENTRY_MODES)[number];

/** One file or symbolic link of a collected tree. */
export interface CollectedEntry {
  /** Relative, with slashes; checked by `pathFault`. */
  readonly path: string;
  readonly kind: 'file' | 'link';
  readonly mode: EntryMode;
  readonly sizeBytes: number;
  /** Git's id of the content: sha1 of `blob <size>\0<content>`. */
  readonly objectId: string;
  /** Where the content (of a link: its target) is, under a name of ours. */
  readonly contentPath: string;
}

/** A path that was left out, and why. */
export interface LeftOut {
  /** Fit for people: what is not printable in it is escaped. */
  readonly path: string;
  readonly rule: string;
  readonly why: string;
}

/** What bounds a collected tree. */
export interface TreeLimits {
  /** Contents that are taken; what is held back or refused does not count. */
  readonly totalBytes: number;
  /** The whole archive, which is read to its end whatever is taken of it. */
  readonly archiveBytes: number;
  readonly entries: number;
  readonly pathBytes: number;
  /** A larger file is held back and said; the rest is taken. */
  readonly fileBytes: number;
}

export const DEFAULT_TREE_LIMITS: TreeLimits = {
  totalBytes: 1024 * 1024 * 1024,
  archiveBytes: 16 * 1024 * 1024 * 1024, // a disk of a guest with room to spare
  entries: 100_000,
  pathBytes: 4096, // PATH_MAX of Linux
  fileBytes: 50 * 1024 * 1024, // what public forges warn about
};

/**
 * A tree as it came from a guest. Contents lie in numbered files of a private directory: no name of a guest is ever a
 * name on this host, so there is nothing to write through or to follow. Must be discarded.
 */
export class CollectedTree {
  constructor(
    /** Private directory with the contents; commands may put temporary files there. */
    readonly directory: string,
    readonly entries: ReadonlyMap<string, CollectedEntry>,
    /** Too large to be committed. */
    readonly held: readonly LeftOut[],
    /** Not safe, or nothing that git can hold. */
    readonly refused: readonly LeftOut[],
    /** Every path of `held` and `refused` as it was in the archive, not as it is shown. */
    readonly leftOutPaths: ReadonlySet<string>,
    readonly totalBytes: number,
  ) {}

  /** The beginning of a file. */
  async firstBytes({ contentPath, sizeBytes }: CollectedEntry, maxBytes: number): Promise<Uint8Array> {
    const length = Math.min(maxBytes, sizeBytes);
    const file = await open(contentPath, 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }

  /** Removes the contents. May be repeated. */
  async discard(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }
}
