import { createHash } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import { isDomainError, kernelError } from '@inquest/kernel';
import { extract, type Extract, type Header } from 'tar-stream';
import { ArchiveGuard } from './archive-guard';
import { CollectedTree, type CollectedEntry, type EntryMode, type LeftOut, type TreeLimits } from './collected-tree';
import { workTreeError } from './errors';
import { pathFault, shownPath } from './safe-path';

const EXECUTABLE_BIT = 0o100;

/**
 * Takes a tree out of a tar archive. Throws `TREE_ARCHIVE_INVALID`, `TREE_TOO_LARGE`, `TREE_STORE_FULL` or
 * `OPERATION_ABORTED`; then nothing is left. What is not safe is left out and listed.
 */
export async function collectTree(tar: Readable, limits: TreeLimits, signal: AbortSignal): Promise<CollectedTree> {
  const directory = await mkdtemp(path.join(tmpdir(), 'inquest-tree-'));
  try {
    return await new TreeCollector(directory, limits).collect(tar, signal);
  } catch (e) {
    await rm(directory, { recursive: true, force: true });
    throw collectionFailure(e, signal);
  }
}

// tar-stream does not export the type.
type Entry = Extract extends AsyncIterable<infer Source> ? Source : never;

class TreeCollector {
  private readonly entries = new Map<string, CollectedEntry>();
  private readonly directories = new Set<string>();
  private readonly held: LeftOut[] = [];
  private readonly refused: LeftOut[] = [];
  private readonly leftOutPaths = new Set<string>();
  private seen = 0;
  private totalBytes = 0;

  constructor(
    private readonly directory: string,
    private readonly limits: TreeLimits,
  ) {}

  async collect(tar: Readable, signal: AbortSignal): Promise<CollectedTree> {
    const reader = extract();
    const fed = pipeline(tar, new ArchiveGuard(this.limits.archiveBytes), reader, { signal });
    fed.catch(() => undefined); // the loop below meets the same failure first; it is thrown after it
    try {
      for await (const entry of reader) {
        await this.take(entry);
        entry.resume(); // the reader waits until all of an entry's content was read
      }
    } catch (e) {
      tar.destroy();
      await fed.catch((failure: unknown) => Promise.reject(isDomainError(e) ? e : failure));
      throw e;
    }
    await fed;
    const { entries, held, refused, leftOutPaths, totalBytes } = this;
    return new CollectedTree(this.directory, entries, held, refused, leftOutPaths, totalBytes);
  }

  private async take(entry: Entry): Promise<void> {
    const { header } = entry;
    const name = relativeName(header.name);
    if (name === null) return; // the root of the tree itself
    this.count();
    const fault = pathFault(name, this.limits.pathBytes) ?? this.placeFault(name, header);
    if (fault !== null) return this.refuse(name, 'unsafe-path', fault);
    // The types of tar-stream promise a known type and a link name; at run time both may be null.
    switch (header.type) {
      case 'directory':
        return this.enter(name);
      case 'file':
      case 'contiguous-file':
        return this.file(name, entry);
      case 'symlink':
        return this.symbolicLink(name, header.linkname);
      case 'link':
        return this.hardLink(name, header.linkname);
      default:
        return this.refuse(name, 'unsafe-kind', `is a ${header.type ?? 'special file'}, which git cannot hold`);
    }
  }

  private count(): void {
    const { entries } = this.limits;
    if (++this.seen > entries) {
      throw workTreeError('TREE_TOO_LARGE', `the tree has more than ${entries} entries`, { entries });
    }
  }

  private countContent(sizeBytes: number): void {
    const { totalBytes } = this.limits;
    this.totalBytes += sizeBytes;
    if (this.totalBytes > totalBytes) {
      throw workTreeError('TREE_TOO_LARGE', `the tree has more than ${totalBytes} bytes`, { totalBytes });
    }
  }

  /** What is wrong with an entry in the place of, or below, what was taken before. */
  private placeFault(name: string, { type }: Header): string | null {
    if (this.entries.has(name)) return 'is in the archive twice';
    if (type !== 'directory' && this.directories.has(name)) return 'is in the archive as a directory too';
    return parentsOf(name).some((parent) => this.entries.has(parent)) ? 'lies below a file or link' : null;
  }

  private enter(name: string): void {
    this.directories.add(name);
  }

  private async file(name: string, entry: Entry): Promise<void> {
    const { size, mode } = entry.header;
    if (size > this.limits.fileBytes) {
      const why = `has ${size} bytes, more than the ${this.limits.fileBytes} that are committed`;
      this.leftOutPaths.add(name);
      this.held.push({ path: shownPath(name), rule: 'large-file', why });
      return;
    }
    const executable = (mode & EXECUTABLE_BIT) !== 0;
    await this.store(name, 'file', executable ? '100755' : '100644', size, entry as AsyncIterable<Uint8Array>);
  }

  private async symbolicLink(name: string, target: string | null): Promise<void> {
    if (target === null || target === '' || target.includes('\ufffd') || target.includes('\0')) {
      return this.refuse(name, 'unsafe-kind', 'is a link whose target is not UTF-8 or empty');
    }
    const bytes = Buffer.from(target);
    await this.store(name, 'link', '120000', bytes.length, [bytes]);
  }

  /** A further name of a file of the same archive becomes a file of its own, as git has no hard links. */
  private hardLink(name: string, target: string | null): void {
    const known = this.entries.get(relativeName(target ?? '') ?? '');
    if (known === undefined) return this.refuse(name, 'unsafe-kind', 'is a hard link to something outside of the tree');
    this.add({ ...known, path: name });
  }

  private async store(
    name: string,
    kind: CollectedEntry['kind'],
    mode: EntryMode,
    sizeBytes: number,
    content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): Promise<void> {
    this.countContent(sizeBytes);
    const contentPath = path.join(this.directory, String(this.seen));
    const hash = createHash('sha1').update(`blob ${sizeBytes}\0`);
    const file = await open(contentPath, 'wx', 0o600);
    try {
      for await (const chunk of content) {
        hash.update(chunk);
        await file.writeFile(chunk);
      }
    } finally {
      await file.close();
    }
    this.add({ path: name, kind, mode, sizeBytes, objectId: hash.digest('hex'), contentPath });
  }

  private add(entry: CollectedEntry): void {
    for (const parent of parentsOf(entry.path)) this.directories.add(parent);
    this.entries.set(entry.path, entry);
  }

  private refuse(name: string, rule: string, fault: string): void {
    this.leftOutPaths.add(name);
    this.refused.push({ path: shownPath(name), rule, why: `it ${fault}` });
  }
}

/** The name without the `./` that archivers put before it and the `/` after a directory; null for the root itself. */
function relativeName(name: string): string | null {
  const relative = name.replace(/^(?:\.\/)+/, '').replace(/\/$/, '');
  return relative === '' || relative === '.' ? null : relative;
}

/** `a/b/c` -> `a`, `a/b`. */
function parentsOf(name: string): readonly string[] {
  const names = name.split('/');
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'));
}

function collectionFailure(e: unknown, signal: AbortSignal): unknown {
  if (isDomainError(e)) return e;
  if (signal.aborted) return kernelError('OPERATION_ABORTED', 'collecting the tree was cancelled', {}, signal.reason);
  const code = typeof e === 'object' && e !== null && 'code' in e ? e.code : null;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return workTreeError('TREE_STORE_FULL', 'no space left to collect the tree', {}, e);
  const why = typeof e === 'object' && e !== null && 'message' in e ? String(e.message) : 'unknown reason';
  return workTreeError('TREE_ARCHIVE_INVALID', `the archive of the tree cannot be read: ${why}`, {}, e);
}
