import { constants } from 'node:fs';
import { open, realpath, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { Injectable } from '@nestjs/common';
import { imageError } from '@inquest/contracts-image';
import type { DomainError } from '@inquest/kernel';
import { ToolPaths } from '../recipes/tool-paths';

/** The one directory of the host from which imports may be read by path. */
@Injectable()
export class ImportDirectory {
  constructor(private readonly tools: ToolPaths) {}

  /**
   * The real path of something in the directory. Links are followed first, so that none leads out. Throws
   * `IMAGE_SOURCE_UNREACHABLE` for anything that is not in it.
   */
  async resolve(wanted: string, kind: 'file' | 'directory'): Promise<string> {
    const { importDirectory } = this.tools;
    // One message for all: what exists elsewhere on the host is nobody's business.
    const refused = unreachable(
      `"${wanted.slice(0, 200)}" is no ${kind} below the import directory ${importDirectory}`,
    );
    const [base, target] = await Promise.all([
      realpath(importDirectory),
      realpath(path.resolve(importDirectory, wanted)),
    ]).catch(() => Promise.reject(refused));
    if (!isBelow(base, target)) throw refused;
    const status = await stat(target).catch(() => Promise.reject(refused));
    if (kind === 'file' ? status.isFile() : status.isDirectory()) return target;
    throw refused;
  }

  /** Opens a file in the directory. Throws what `resolve` throws. */
  async open(wanted: string): Promise<FileHandle> {
    const target = await this.resolve(wanted, 'file');
    const base = await realpath(this.tools.importDirectory);
    return openBelow(base, path.relative(base, target));
  }
}

/** Opens a regular file below `base`, which has no links in it. Throws `IMAGE_SOURCE_UNREACHABLE`. */
export async function openBelow(base: string, relative: string): Promise<FileHandle> {
  const refused = unreachable(`"${relative.slice(0, 200)}" is no file of the source`);
  const target = await realpath(path.join(base, relative)).catch(() => Promise.reject(refused));
  if (!isBelow(base, target)) throw refused;
  // A fifo that nobody writes to would block the open.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(target, flags).catch(() => Promise.reject(refused));
  // What was opened is what counts: a directory on the way may have become a link in the meantime.
  const opened = await realpath(`/proc/self/fd/${handle.fd}`).catch(() => '');
  if (isBelow(base, opened) && (await handle.stat()).isFile()) return handle;
  await handle.close();
  throw refused;
}

const isBelow = (base: string, target: string): boolean => target.startsWith(base.endsWith('/') ? base : `${base}/`);

const unreachable = (message: string): DomainError => imageError('IMAGE_SOURCE_UNREACHABLE', message);
