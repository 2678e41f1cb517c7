import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { CollectedEntry } from './collected-tree';
import type { HardenedGit } from './hardened-git';

/**
 * Puts contents into the repository as they are: no filter, no change of line ends. All of them go through one
 * `git fast-import`, which makes one pack of many and flushes once; loose objects are flushed one by one.
 */
export async function writeBlobs(
  git: HardenedGit,
  entries: readonly CollectedEntry[],
  signal: AbortSignal,
): Promise<void> {
  if (entries.length === 0) return;
  const command = await git.open(['fast-import', '--quiet', '--done'], { signal });
  command.stdout.resume();
  // Once each: a tree of many hard links to a large file would be many times as large.
  const distinct = new Map(entries.map((entry) => [entry.objectId, entry]));
  const feeding = pipeline(Readable.from(blobCommands([...distinct.values()])), command.stdin, { signal });
  // When git fails, the broken pipe is only a consequence.
  for (const outcome of await Promise.allSettled([command.finished, feeding])) {
    if (outcome.status === 'rejected') throw outcome.reason;
  }
}

/** The input format of git-fast-import(1); without its `done`, a cut stream is a failure. */
async function* blobCommands(entries: readonly CollectedEntry[]): AsyncGenerator<Buffer> {
  for (const { sizeBytes, contentPath } of entries) {
    yield Buffer.from(`blob\ndata ${sizeBytes}\n`);
    for await (const chunk of createReadStream(contentPath)) yield chunk as Buffer;
    yield Buffer.from('\n');
  }
  yield Buffer.from('done\n');
}
