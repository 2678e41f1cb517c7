import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { pack, type Pack } from 'tar-stream';
import { workTreeError } from './errors';
import type { HardenedGit } from './hardened-git';
import { isGitlink, type ListedEntry, type TreeListing } from './tree-listing';

const LINK_MODE = '120000';
const PROGRAM_MODE = '100755';
const MAX_LINK_TARGET_BYTES = 4096; // PATH_MAX of Linux
const MAX_LINE_BYTES = 256; // of cat-file's header line

/**
 * The contents of a tree as a tar archive, exactly as they are in the repository. Not made by `git archive`, which would
 * obey the attributes of the tree: leave out paths, rewrite line ends, run filters. Errors destroy the stream.
 */
export function exportListing(
  git: HardenedGit,
  listing: TreeListing,
  modifiedAtMs: number,
  signal: AbortSignal,
): Readable {
  const out = new PassThrough();
  const archive = pack();
  const entries = [...listing.values()].filter((entry) => !isGitlink(entry));
  const filled = fill(archive, git, entries, new Date(modifiedAtMs), signal).catch((e: unknown) => {
    archive.destroy(e as Error);
    throw e;
  });
  // The first failure of the two is the one that the reader of the archive is told.
  Promise.all([filled, pipeline(archive, out, { signal })]).catch((e: unknown) => out.destroy(e as Error));
  return out;
}

async function fill(
  archive: Pack,
  git: HardenedGit,
  entries: readonly ListedEntry[],
  mtime: Date,
  signal: AbortSignal,
): Promise<void> {
  const command = await git.open(['cat-file', '--batch'], { signal });
  command.stdin.end(entries.map(({ objectId }) => `${objectId}\n`).join(''));
  const objects = new ObjectReader(command.stdout);
  for (const { path, mode } of entries) {
    const size = await objects.nextSize();
    if (mode === LINK_MODE) {
      archive.entry({ name: path, type: 'symlink', linkname: await linkTarget(objects, size, path), mtime });
      continue;
    }
    const entry = archive.entry({ name: path, size, mode: mode === PROGRAM_MODE ? 0o755 : 0o644, mtime });
    for await (const chunk of objects.content(size)) await write(entry, chunk, signal);
    entry.end(null);
  }
  await command.finished;
  archive.finalize();
}

async function linkTarget(objects: ObjectReader, sizeBytes: number, path: string): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of objects.content(sizeBytes)) if (sizeBytes <= MAX_LINK_TARGET_BYTES) chunks.push(chunk);
  if (chunks.length > 0) return Buffer.concat(chunks).toString('utf8');
  throw workTreeError('TREE_ARCHIVE_INVALID', `the link ${path} has a target of ${sizeBytes} bytes`, { sizeBytes });
}

async function write(sink: ReturnType<Pack['entry']>, chunk: Buffer, signal: AbortSignal): Promise<void> {
  if (!sink.write(chunk)) await once(sink, 'drain', { signal });
}

/** Reads what `git cat-file --batch` writes: for each object `<id> SP <type> SP <size> LF <content> LF`. */
class ObjectReader {
  private readonly chunks: AsyncIterator<Buffer>;
  private rest: Buffer = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** Size of the next object, in bytes. Its content must be read next. */
  async nextSize(): Promise<number> {
    let end = this.rest.indexOf('\n');
    while (end === -1 && this.rest.length < MAX_LINE_BYTES) {
      this.rest = Buffer.concat([this.rest, await this.more()]);
      end = this.rest.indexOf('\n');
    }
    const line = this.rest.subarray(0, Math.max(0, end)).toString('latin1');
    const size = /^[0-9a-f]{40} blob ([0-9]+)$/.exec(line)?.[1];
    if (size === undefined) throw unreadable(`git gave ${JSON.stringify(line.slice(0, MAX_LINE_BYTES))} for an object`);
    this.rest = this.rest.subarray(end + 1);
    return Number(size);
  }

  /** The content of the object whose size was just read. */
  async *content(sizeBytes: number): AsyncGenerator<Buffer> {
    let missing = sizeBytes;
    while (missing > 0) {
      if (this.rest.length === 0) this.rest = await this.more();
      const chunk = this.rest.subarray(0, missing);
      this.rest = this.rest.subarray(chunk.length);
      missing -= chunk.length;
      yield chunk;
    }
    if (this.rest.length === 0) this.rest = await this.more();
    this.rest = this.rest.subarray(1); // the LF after the content
  }

  private async more(): Promise<Buffer> {
    const next = await this.chunks.next();
    if (next.done === true) throw unreadable('git ended in the middle of an object');
    return next.value;
  }
}

const unreadable = (why: string) => workTreeError('TREE_ARCHIVE_INVALID', `the project cannot be exported: ${why}`);
