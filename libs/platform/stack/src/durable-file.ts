import { randomUUID } from 'node:crypto';
import { watch, type FSWatcher } from 'node:fs';
import { chmod, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { kernelError } from '@inquest/kernel';

/** Replaces `file` in one step: a reader, also after a crash, sees the old content or the new, never a part. */
export async function writeFileAtomically(file: string, content: string, mode = 0o600): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    const handle = await open(temporary, 'wx', mode);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await chmod(temporary, mode); // the umask may have taken bits from `mode`
    await rename(temporary, file);
  } catch (e) {
    await rm(temporary, { force: true });
    throw e;
  }
}

/** The content of `file`, or null when there is none. */
export async function findFileText(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw e;
  }
}

/** A missed notification (network file systems send none) costs this much, not the deadline. */
const RECHECK_MS = 200;

/**
 * Waits until `accept` makes something out of the content of `file` (null while it is absent). Wakes on changes in its
 * directory. Throws what `accept` throws, `DEADLINE_EXCEEDED`, or `OPERATION_ABORTED`.
 */
export async function untilFile<T>(
  file: string,
  accept: (text: string | null) => T | null,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<T> {
  const end = performance.now() + options.timeoutMs;
  let wake = new AbortController();
  const watcher = watchDirectory(path.dirname(file), () => wake.abort());
  const onAbort = (): void => wake.abort();
  options.signal.addEventListener('abort', onAbort, { once: true });
  try {
    for (;;) {
      if (options.signal.aborted) {
        throw kernelError('OPERATION_ABORTED', `the wait for ${file} was cancelled`, {}, options.signal.reason);
      }
      wake = new AbortController();
      const accepted = accept(await findFileText(file));
      if (accepted !== null) return accepted;
      if (performance.now() > end) {
        throw kernelError('DEADLINE_EXCEEDED', `${file} was not written within ${options.timeoutMs} ms`, { file });
      }
      await sleep(RECHECK_MS, undefined, { signal: wake.signal }).catch(() => undefined);
    }
  } finally {
    options.signal.removeEventListener('abort', onAbort);
    watcher?.close();
  }
}

/** Null where the kernel has no watch left to give: the periodic look must do. */
function watchDirectory(directory: string, onChange: () => void): FSWatcher | null {
  try {
    const watcher = watch(directory, { persistent: false }, onChange);
    // The directory may go away with the process that is waited for.
    watcher.on('error', () => undefined);
    return watcher;
  } catch {
    return null;
  }
}

/** The last `maxBytes` of a file that may be large; empty when there is none. */
export async function readTail(file: string, maxBytes: number): Promise<string> {
  const handle = await open(file, 'r').catch(() => null);
  if (handle === null) return '';
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - maxBytes);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(size, maxBytes)), 0, null, start);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
