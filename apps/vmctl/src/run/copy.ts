import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import * as tar from 'tar';
import { ExecView } from '@inquest/contracts-vm';
import { newId } from '@inquest/kernel';
import { printableLine } from '@inquest/transcript';
import type { CliContext } from '../context';
import { cliError } from '../errors';
import { isFitToUnpack } from './archive-entry';
import { parsePlace } from './place';

/** Permissions that a copy takes over: none that give away rights, such as setuid. */
const COPIED_MODE_BITS = 0o777;

/**
 * Copies a file or a directory between this host and a machine. As with cp(1), a target that is a directory gets the
 * source under its own name. Throws `CLI_USAGE_INVALID`, `CLI_FILE_UNREADABLE`, `CLI_TARGET_*`, `CLI_COPY_BROKEN` and
 * what the platform answers; a copy out of a machine that failed leaves nothing behind.
 */
export async function copy(context: CliContext, from: string, to: string): Promise<void> {
  const [source, target] = [parsePlace(from), parsePlace(to)];
  if (source.machine === null && target.machine !== null)
    await copyIn(context, source.path, target.machine, target.path);
  else if (source.machine !== null && target.machine === null)
    await copyOut(context, source.machine, source.path, target.path);
  else throw cliError('CLI_USAGE_INVALID', 'exactly one side must be a machine, written machine:/path');
  context.printer.result({ from, to }, () => `copied ${from} to ${to}`);
}

async function copyIn(context: CliContext, source: string, machine: string, target: string): Promise<void> {
  const found = await stat(source).catch((e: unknown) => Promise.reject(unreadable(source, e)));
  const isDirectory = found.isDirectory();
  const isInto = target.endsWith('/') || (await isGuestDirectory(context, machine, target));
  const query = {
    path: isInto ? path.posix.join(target, path.basename(path.resolve(source))) : target,
    archive: isDirectory ? ('tar' as const) : ('file' as const),
    mode: isDirectory ? null : (found.mode & COPIED_MODE_BITS).toString(8).padStart(3, '0'),
  };
  await upload(context, machine, query, source);
}

/** Puts a directory into a machine under exactly that path. Throws `CLI_FILE_UNREADABLE` and what the platform answers. */
export async function sendDirectory(
  context: CliContext,
  source: string,
  machine: string,
  guestPath: string,
): Promise<void> {
  const found = await stat(source).catch((e: unknown) => Promise.reject(unreadable(source, e)));
  if (!found.isDirectory()) throw unreadable(source, new Error('it is no directory'));
  await upload(context, machine, { path: guestPath, archive: 'tar', mode: null }, source);
}

interface FilesQuery {
  readonly path: string;
  readonly archive: 'tar' | 'file';
  readonly mode: string | null;
}

async function upload(context: CliContext, machine: string, query: FilesQuery, source: string): Promise<void> {
  const content =
    query.archive === 'tar'
      ? Readable.from(tar.create({ cwd: source, portable: true }, ['.']))
      : createReadStream(source);
  let failure: unknown = null;
  content.once('error', (e: unknown) => (failure = e));
  try {
    await json(await context.gateway.stream('PUT', filesPath(machine), { query: { ...query } }, content));
  } catch (e) {
    throw failure === null ? e : unreadable(source, failure);
  }
}

async function copyOut(context: CliContext, machine: string, source: string, target: string): Promise<void> {
  const isInto = target.endsWith('/') || (await isDirectoryHere(target));
  const destination = isInto ? path.join(target, path.posix.basename(path.posix.resolve(source))) : target;
  const isDirectory = await isGuestDirectory(context, machine, source);
  if (isDirectory && (await exists(destination))) {
    throw cliError('CLI_TARGET_EXISTS', `${destination} exists already`, { path: destination });
  }
  const query = { path: source, archive: isDirectory ? 'tar' : 'file' };
  const content = await context.gateway.stream('GET', filesPath(machine), { query });
  // Under another name first: a copy that breaks off leaves nothing that looks whole.
  const partial = `${destination}.${newId('part')}`;
  try {
    if (isDirectory) await unpack(context, content, partial);
    else await save(content, partial);
    await rename(partial, destination);
  } catch (e) {
    // What was still being unpacked may come a moment later.
    await rm(partial, { recursive: true, force: true, maxRetries: 5 });
    context.signal.throwIfAborted();
    throw copyOutError(destination, `${machine}:${source}`, e);
  }
}

/** The file is there before anything can fail: a stream that makes it itself may do so after it was taken away again. */
async function save(content: Readable, file: string): Promise<void> {
  const handle = await open(file, 'wx');
  await pipeline(content, handle.createWriteStream());
}

/** Owners stay in the guest. What is no file, directory or link inside the copy is left out, and said. */
async function unpack({ printer }: CliContext, archive: Readable, directory: string): Promise<void> {
  await mkdir(directory);
  const extraction = tar.extract({
    cwd: directory,
    strict: true,
    preserveOwner: false,
    filter: (name, entry) => {
      const isFit = 'type' in entry && isFitToUnpack(name, entry);
      if (!isFit) printer.note(`  left out: ${printableLine(name)}, which leads out of the copy or is no file`);
      return isFit;
    },
    onReadEntry: (entry) => {
      entry.mode = (entry.mode ?? 0) & COPIED_MODE_BITS;
    },
  });
  await pipeline(archive, extraction);
}

/** Failures of this host's file system come from a system call; everything else is the stream's, or what it holds. */
function copyOutError(destination: string, source: string, e: unknown): Error {
  const { syscall, path: failedPath, message } = e as NodeJS.ErrnoException;
  if (syscall !== undefined && failedPath !== undefined) {
    return cliError('CLI_TARGET_UNWRITABLE', `${destination} cannot be written: ${message}`, { path: destination }, e);
  }
  return cliError('CLI_COPY_BROKEN', `the copy of ${source} broke off: ${message}`, { source }, e);
}

const unreadable = (source: string, e: unknown): Error =>
  cliError('CLI_FILE_UNREADABLE', `${source} cannot be read: ${(e as Error).message}`, { path: source }, e);

async function isGuestDirectory({ gateway }: CliContext, machine: string, guestPath: string): Promise<boolean> {
  const { exitCode } = await gateway.call(ExecView, 'POST', `/v1/machines/${machine}/exec`, {
    body: { command: 'test -d "$INQUEST_PATH"', env: { INQUEST_PATH: guestPath } },
  });
  return exitCode === 0;
}

const isDirectoryHere = (file: string): Promise<boolean> =>
  stat(file).then(
    (status) => status.isDirectory(),
    () => false,
  );

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

const filesPath = (machine: string): string => `/v1/machines/${machine}/files`;
