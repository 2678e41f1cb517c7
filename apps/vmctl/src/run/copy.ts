import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import * as tar from 'tar';
import { ExecView } from '@inquest/contracts-vm';
import { newId } from '@inquest/kernel';
import type { CliContext } from '../context';
import { cliError } from '../errors';

/** `machine:path`, or a path on this host. */
interface Place {
  readonly machine: string | null;
  readonly path: string;
}

/** A trailing slash means "into this directory, under its own name"; otherwise the target gets the given name. */
export async function copy(context: CliContext, from: string, to: string): Promise<void> {
  const [source, target] = [placeOf(from), placeOf(to)];
  if ((source.machine === null) === (target.machine === null)) {
    throw cliError('CLI_USAGE_INVALID', 'exactly one side must be a machine, written machine:/path');
  }
  if (target.machine !== null) await copyIn(context, source.path, target.machine, target.path);
  else await copyOut(context, source.machine ?? '', source.path, target.path);
  context.printer.result({ from, to }, () => `copied ${from} to ${to}`);
}

/** A colon makes it a machine, unless a slash comes first: `./a:b` is a file. */
function placeOf(spec: string): Place {
  const match = /^([A-Za-z0-9_-]{1,64}):(.*)$/s.exec(spec);
  if (!match) return { machine: null, path: spec };
  const guestPath = match[2] ?? '';
  if (!guestPath.startsWith('/')) throw cliError('CLI_USAGE_INVALID', `the path in "${spec}" must be absolute`);
  return { machine: match[1] ?? '', path: guestPath };
}

async function copyIn({ gateway, signal }: CliContext, source: string, machine: string, target: string): Promise<void> {
  const found = await stat(source).catch((e: unknown) => {
    throw cliError('CLI_USAGE_INVALID', `${source} cannot be read`, { path: source }, e);
  });
  const isDirectory = found.isDirectory();
  const body = isDirectory ? Readable.from(tar.create({ cwd: source, portable: true }, ['.'])) : createReadStream(source);
  const query = {
    path: named(target, source),
    archive: isDirectory ? 'tar' : 'file',
    mode: isDirectory ? null : (found.mode & 0o777).toString(8).padStart(3, '0'),
  };
  const answer = await gateway.stream('PUT', filesPath(machine), { query, signal }, body);
  await json(answer);
}

async function copyOut(context: CliContext, machine: string, source: string, target: string): Promise<void> {
  const destination = named(target, source);
  const isDirectory = await isGuestDirectory(context, machine, source);
  const query = { path: source, archive: isDirectory ? 'tar' : 'file' };
  const { signal } = context;
  const stream = await context.gateway.stream('GET', filesPath(machine), { query, signal });
  // Under another name first: a copy that breaks off leaves nothing that looks whole.
  const partial = `${destination}.${newId('part')}`;
  try {
    if (isDirectory) await mkdir(partial, { recursive: true });
    await pipeline(stream, isDirectory ? tar.extract({ cwd: partial, strict: true }) : createWriteStream(partial, { flags: 'wx' }));
    await rename(partial, destination);
  } catch (e) {
    await rm(partial, { recursive: true, force: true });
    throw e;
  }
}

async function isGuestDirectory({ gateway }: CliContext, machine: string, guestPath: string): Promise<boolean> {
  const { exitCode } = await gateway.call(ExecView, 'POST', `/v1/machines/${machine}/exec`, {
    body: { command: 'test -d "$INQUEST_PATH"', env: { INQUEST_PATH: guestPath } },
  });
  return exitCode === 0;
}

const filesPath = (machine: string): string => `/v1/machines/${machine}/files`;

const named = (target: string, source: string): string =>
  target.endsWith('/') ? path.posix.join(target, path.basename(path.resolve(source))) : target;
