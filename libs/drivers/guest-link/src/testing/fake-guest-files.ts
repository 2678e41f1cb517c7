import { createHash } from 'node:crypto';
import { type FileEntry, type JsonObject } from '@inquest/frame-protocol';
import { type FrameChannel } from '../client/frame-channel';

/** A file of the fake guest. A put of kind tar stores the archive itself under its destination. */
export interface FakeFile {
  readonly bytes: Uint8Array;
  readonly mode: string;
  readonly mtimeMs: number;
}

/** The file ops of the fake guest over a map from absolute path to file; directories exist where files are below them. */
export class FakeGuestFiles {
  readonly files = new Map<string, FakeFile>();

  /** Stores text under `path`. */
  write(path: string, text: string | Uint8Array): void {
    this.files.set(path, { bytes: Buffer.from(text), mode: '0644', mtimeMs: 0 });
  }

  /** The text under `path`; null when there is none. */
  read(path: string): string | null {
    const file = this.files.get(path);
    return file ? Buffer.from(file.bytes).toString() : null;
  }

  async put(channel: FrameChannel, request: JsonObject): Promise<void> {
    const chunks: Uint8Array[] = [];
    for (let frame = await channel.next(); frame.kind !== 'end'; frame = await channel.next()) {
      if (frame.kind !== 'data-to-guest') throw channel.outOfOrder(frame);
      chunks.push(frame.bytes);
    }
    const bytes = Buffer.concat(chunks);
    const mode = typeof request['mode'] === 'string' ? request['mode'] : '0644';
    this.files.set(String(request['dest']), { bytes, mode, mtimeMs: 0 });
    await channel.sendControl({ type: 'ok', entries: 1, bytes: bytes.length });
  }

  async get(channel: FrameChannel, path: string): Promise<void> {
    const file = this.files.get(path);
    if (!file) return sendNotFound(channel, path);
    await channel.sendControl({ type: 'ok' });
    await channel.sendData('data-from-guest', file.bytes);
    await channel.sendEnd();
    const sha256 = createHash('sha256').update(file.bytes).digest('hex');
    await channel.sendControl({ type: 'end', bytes: file.bytes.length, sha256 });
  }

  async tail(channel: FrameChannel, path: string, fromOffset: number): Promise<void> {
    const file = this.files.get(path);
    if (!file) return sendNotFound(channel, path);
    await channel.sendControl({ type: 'ok', offset: fromOffset });
    await channel.sendData('data-from-guest', file.bytes.subarray(fromOffset));
    await channel.sendControl({ type: 'eof', offset: Math.max(fromOffset, file.bytes.length) });
  }

  async stat(channel: FrameChannel, path: string): Promise<void> {
    const entry = this.entry(path);
    if (!entry) return sendNotFound(channel, path);
    const { kind, size, mode, mtimeMs } = entry;
    await channel.sendControl({ type: 'stat', kind, size, mode, mtimeMs, uid: 0, gid: 0 });
  }

  async list(channel: FrameChannel, path: string): Promise<void> {
    const prefix = path.endsWith('/') ? path : `${path}/`;
    const below = [...this.files.keys()].filter((file) => file.startsWith(prefix));
    const names = [...new Set(below.map((file) => file.slice(prefix.length).split('/')[0] ?? ''))].sort();
    if (names.length === 0) return sendNotFound(channel, path);
    const entries = names.map((name) => this.entry(`${prefix}${name}`));
    await channel.sendControl({ type: 'list', entries, truncated: false });
  }

  async remove(channel: FrameChannel, path: string): Promise<void> {
    const removed = [...this.files.keys()].filter((file) => file === path || file.startsWith(`${path}/`));
    if (removed.length === 0) return sendNotFound(channel, path);
    for (const file of removed) this.files.delete(file);
    await channel.sendControl({ type: 'ok' });
  }

  private entry(path: string): FileEntry | null {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const file = this.files.get(path);
    if (file) return { name, kind: 'file', size: file.bytes.length, mode: file.mode, mtimeMs: file.mtimeMs };
    const isDirectory = [...this.files.keys()].some((other) =>
      other.startsWith(path.endsWith('/') ? path : `${path}/`),
    );
    return isDirectory ? { name, kind: 'dir', size: 4096, mode: '0755', mtimeMs: 0 } : null;
  }
}

const sendNotFound = (channel: FrameChannel, path: string): Promise<void> =>
  channel.sendControl({ type: 'error', code: 'PATH_NOT_FOUND', message: `${path}: no such file or directory` });
