import { chmod, link, lutimes, mkdir, rename, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { imageError } from '@inquest/contracts-image';
import { onFileSystem } from '@inquest/image-store';
import { hasCode } from '@inquest/kernel';
import type { ContentFiles } from './content-files';
import type { FileNode, RootTree, TreeAttributes, TreeNode } from './formats/root-tree';
import { invalidSource } from './formats/source-refusal';
import { runHostTool } from './host-tool';

/** Hundreds of thousands of files on a busy host. */
const TOOL_TIMEOUT_MS = 30 * 60_000;
/** mke2fs makes one inode for each so many bytes (inode_ratio of mke2fs.conf). */
const BYTES_PER_INODE = 16_384;
/** For what the system makes while it runs. */
const SPARE_INODES = 4_096;
const MIB = 1024 * 1024;
/** Journal, tables and room to work, beside what is in the tree. */
const SPARE_BYTES = 256 * MIB;
/** debugfs says its version; anything more is a complaint, and its exit status never is one. */
const DEBUGFS_BANNER = /^debugfs [0-9.]+ \([^)\n]*\)\n?/;

export interface TreeDiskOptions {
  readonly tree: RootTree;
  readonly contents: ContentFiles;
  /** An empty directory of ours, on the file system of the contents. */
  readonly workDirectory: string;
  /** Size of the disk; null leaves room beside what is in the tree. */
  readonly diskBytes: number | null;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/**
 * Makes a raw ext4 disk of a tree, without root privileges: owners are set in the file system itself. The contents are
 * used up. Throws `IMAGE_SOURCE_OVERSIZED`/`IMAGE_SOURCE_INVALID` when the tree does not fit, `IMAGE_STORE_FULL` when the
 * host has no space for it, `PROCESS_FAILED` when a tool of e2fsprogs fails.
 */
export async function writeTreeDisk(disk: string, options: TreeDiskOptions): Promise<void> {
  const { tree, contents, workDirectory, signal } = options;
  const sizeBytes = sizeOf(options);
  const root = path.join(workDirectory, 'root');
  const writer = new TreeWriter(contents, signal);
  await onFileSystem('write the tree of an import', () => writer.write(root, '', tree.root));
  const script = path.join(workDirectory, 'owners');
  await onFileSystem('write the tree of an import', () => writeFile(script, writer.script, { mode: 0o600 }));
  await onFileSystem('make a disk', async () => {
    await writeFile(disk, '', { flag: 'wx', mode: 0o644 });
    await truncate(disk, sizeBytes);
  });
  const inodes = Math.ceil(Math.max(sizeBytes / BYTES_PER_INODE, tree.entries + SPARE_INODES));
  const run = (tool: string, args: readonly string[]) =>
    runHostTool(tool, args, { timeoutMs: TOOL_TIMEOUT_MS, signal });
  await run('mke2fs', ['-q', '-F', '-t', 'ext4', '-N', String(inodes), '-E', 'root_owner=0:0', '-d', root, disk]).catch(
    (e: unknown) => {
      signal.throwIfAborted();
      if (!hasCode(e, 'PROCESS_FAILED')) throw e;
      throw invalidSource(`the tree does not become a disk of ${sizeBytes} bytes: ${(e as Error).message}`, e);
    },
  );
  const { stderr } = await run('debugfs', ['-w', '-f', script, disk]);
  const complaint = stderr.replace(DEBUGFS_BANNER, '').trim();
  if (complaint !== '') throw imageError('IMAGE_BUILD_FAILED', `owners could not be set: ${complaint.slice(0, 500)}`);
  await run('e2fsck', ['-fn', disk]);
}

function sizeOf({ tree, contents, diskBytes, maxBytes }: TreeDiskOptions): number {
  const needed = contents.totalBytes + tree.entries * 4096;
  const sizeBytes = diskBytes ?? needed * 2 + SPARE_BYTES;
  const rounded = Math.ceil(sizeBytes / MIB) * MIB;
  if (rounded <= maxBytes) return rounded;
  throw imageError('IMAGE_SOURCE_OVERSIZED', `the disk would have ${rounded} bytes, more than the ${maxBytes} allowed`);
}

/** Writes a tree to the host, and a debugfs script of what the host's own user cannot give it. */
class TreeWriter {
  private readonly placed = new Map<FileNode, string>();
  private readonly lines: string[] = [];
  private readonly ownUid = process.getuid?.() ?? 0;
  private readonly ownGid = process.getgid?.() ?? 0;

  constructor(
    private readonly contents: ContentFiles,
    private readonly signal: AbortSignal,
  ) {}

  get script(): string {
    return this.lines.join('');
  }

  /**
   * `host` does not exist yet. Every directory on the way to it was made by this writer, and names have no slashes: no
   * link of the tree is ever followed.
   */
  async write(host: string, guest: string, node: TreeNode): Promise<void> {
    this.signal.throwIfAborted();
    if (node.kind === 'directory') {
      await mkdir(host, { mode: 0o700 });
      for (const [name, child] of node.children) await this.write(`${host}/${name}`, `${guest}/${name}`, child);
      // Only now: what is made inside of a directory changes its time, and needs it writable.
      await this.settle(host, guest === '' ? '/' : guest, node.attributes, 0o700);
    } else if (node.kind === 'symlink') {
      await symlink(node.target, host);
      await lutimes(host, node.attributes.mtimeS, node.attributes.mtimeS);
      this.setOwner(guest, node.attributes);
    } else await this.writeFile(host, guest, node);
  }

  private async writeFile(host: string, guest: string, node: FileNode): Promise<void> {
    const first = this.placed.get(node);
    if (first !== undefined) return link(first, host);
    await rename(this.contents.pathOf(node.content), host);
    this.placed.set(node, host);
    await this.settle(host, guest, node.attributes, 0o600);
  }

  /** `needed` are the permissions without which mke2fs could not read the entry. */
  private async settle(host: string, guest: string, attributes: TreeAttributes, needed: number): Promise<void> {
    const { mode, mtimeS } = attributes;
    await chmod(host, mode | needed);
    await utimes(host, mtimeS, mtimeS);
    const type = needed === 0o700 ? 0o040000 : 0o100000;
    if ((mode | needed) !== mode) this.set(guest, 'mode', `0${(type | mode).toString(8)}`);
    this.setOwner(guest, attributes);
  }

  private setOwner(guest: string, { uid, gid }: TreeAttributes): void {
    if (uid !== this.ownUid) this.set(guest, 'uid', String(uid));
    if (gid !== this.ownGid) this.set(guest, 'gid', String(gid));
  }

  /** Names have no control characters; a quote is written twice (lib/ss/parse.c of e2fsprogs). */
  private set(guest: string, field: string, value: string): void {
    this.lines.push(`sif "${guest.replaceAll('"', '""')}" ${field} ${value}\n`);
  }
}
