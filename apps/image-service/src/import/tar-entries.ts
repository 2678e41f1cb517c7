import type { Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, type Header } from 'tar-stream';
import { isDomainError } from '@inquest/kernel';
import { invalidSource } from './formats/source-refusal';

/** One entry of an archive, its bytes to be read before the next one. */
export interface TarEntry extends AsyncIterable<Buffer> {
  /** The types of tar-stream promise a known type and a link name; at run time both may be null. */
  readonly header: Omit<Header, 'type' | 'linkname'> & {
    readonly type: Header['type'] | null;
    readonly linkname: string | null;
  };
}

/**
 * Calls `onEntry` for each entry of a tar in turn; `through` are what its bytes pass first. Throws what `onEntry` and the
 * streams throw as an error of ours, `IMAGE_SOURCE_INVALID` for an archive that is cut or damaged, and the signal's reason.
 */
export async function eachTarEntry(
  source: Readable,
  through: readonly Transform[],
  signal: AbortSignal,
  onEntry: (entry: TarEntry) => Promise<void>,
): Promise<void> {
  const entries = extract();
  const fed = pipeline([source, ...through, entries as unknown as Writable], { signal });
  const read = (async () => {
    for await (const entry of entries) await onEntry(entry as unknown as TarEntry);
  })();
  // A failure of either side ends the other one, with an error that says less.
  const ends = await Promise.allSettled([read, fed]);
  signal.throwIfAborted();
  const failures = ends.filter((end) => end.status === 'rejected').map(({ reason }) => reason as unknown);
  if (failures.length === 0) return;
  const telling = failures.find(isDomainError);
  throw telling ?? invalidSource(`the archive is cut or damaged: ${String(failures[0]).slice(0, 200)}`, failures[0]);
}

/** Reads on to the next entry. */
export async function skip(entry: TarEntry): Promise<void> {
  for await (const chunk of entry) void chunk;
}
