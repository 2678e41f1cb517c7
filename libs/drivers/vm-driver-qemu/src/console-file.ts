import { once } from 'node:events';
import { watch, type FSWatcher } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { delay } from '@inquest/kernel';
import { runCommand } from '@inquest/process';
import type { BoundedLog } from '@inquest/vm-driver';

/** The most that is taken at once. */
const CHUNK_BYTES = 64 * 1024;
/**
 * After a change. A serial port is written byte by byte, and waking up for each byte of a boot costs this process 300 ms
 * of a processor that the guest needs.
 */
const PAUSE_MS = 10;
/** Between two looks where nothing tells of changes. */
const UNWATCHED_PAUSE_MS = 250;
/** Of what has been read, how much stays on disk: a later service reads the end of it again. */
const KEPT_BYTES = 16 * 1024 * 1024;
/** Freeing a part of a file on a slow disk. */
const FREE_TIMEOUT_MS = 10_000;

/** A serial console on its way into a log. */
export interface FollowedConsole {
  /** Settles when all that was written until `closing` aborted, or `stop`, is in the log. Never rejects. */
  readonly ended: Promise<void>;
  /** Gives up what has not been read yet, and settles as `ended` does. */
  readonly stop: () => Promise<void>;
}

/**
 * Copies the file that a monitor writes a console into to the log as it grows, from `log.totalBytes` on, and to its end
 * once `closing` aborts, which has to be after the monitor is gone. The disk space of what was read and will not be
 * needed again is given back, so that a guest which writes for ever does not fill the disk. Rejects with the system's error when the
 * file is not there; nothing is open then.
 */
export async function followConsole(path: string, log: BoundedLog, closing: AbortSignal): Promise<FollowedConsole> {
  const file = await open(path, 'r');
  const stopped = new AbortController();
  const follower = new ConsoleFollower(path, file, log);
  const ended = follower
    .follow(closing, stopped.signal)
    .catch(() => undefined)
    .then(() => file.close())
    .catch(() => undefined);
  const stop = (): Promise<void> => {
    stopped.abort();
    return ended;
  };
  return { ended, stop };
}

class ConsoleFollower {
  private readonly buffer = Buffer.alloc(CHUNK_BYTES);
  private freedBytes = 0;

  constructor(
    private readonly path: string,
    private readonly file: FileHandle,
    private readonly log: BoundedLog,
  ) {}

  async follow(closing: AbortSignal, stopped: AbortSignal): Promise<void> {
    const until = AbortSignal.any([closing, stopped]);
    while (!until.aborted) {
      await this.takeAll(stopped);
      await this.freeOld();
      await this.whenChanged(until);
      await delay(PAUSE_MS, until).catch(() => undefined);
    }
    await this.takeAll(stopped);
  }

  private async takeAll(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      const { bytesRead } = await this.file.read(this.buffer, 0, CHUNK_BYTES, this.log.totalBytes);
      if (bytesRead === 0) return;
      await this.log.append(this.buffer.subarray(0, bytesRead));
    }
  }

  /** The size stays, and with it what offsets mean. A file system that cannot do this keeps the bytes until the machine goes. */
  private async freeOld(): Promise<void> {
    const { totalBytes } = this.log;
    if (totalBytes - this.freedBytes < 2 * KEPT_BYTES) return;
    this.freedBytes = totalBytes - KEPT_BYTES;
    const range = ['--punch-hole', '--offset', '0', '--length', String(this.freedBytes)];
    await runCommand('fallocate', [...range, this.path], { timeoutMs: FREE_TIMEOUT_MS }).catch(() => undefined);
  }

  /** Watched for one change only: a watch that stays would tell of every byte. */
  private async whenChanged(until: AbortSignal): Promise<void> {
    const looked = new AbortController();
    const signal = AbortSignal.any([until, looked.signal]);
    const changed = this.nextChange(signal);
    // What was written before the watch stood is no change to it.
    const { size } = await this.file.stat();
    if (size > this.log.totalBytes) looked.abort();
    await changed;
    looked.abort();
  }

  private async nextChange(signal: AbortSignal): Promise<void> {
    let watcher: FSWatcher | null = null;
    try {
      watcher = watch(this.path);
      await once(watcher, 'change', { signal });
    } catch {
      // A host that has no watches left is asked again and again.
      await delay(UNWATCHED_PAUSE_MS, signal).catch(() => undefined);
    } finally {
      watcher?.close();
    }
  }
}
