import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pack } from 'tar-stream';
import { tempDir, type TempDir } from '@inquest/testing';
import { CapturedOutput } from '../testing/captured-output';
import { GatewayDouble, sendProblem } from '../testing/gateway-double';
import { runCommandLine } from '../run-command-line';
import { Readable } from 'node:stream';

const FILES = '/v1/machines/box/files';
const EXEC = '/v1/machines/box/exec';

describe('vmctl cp', () => {
  let gateway: GatewayDouble;
  let here: TempDir;

  beforeAll(async () => {
    gateway = await GatewayDouble.start();
  });
  beforeEach(async () => {
    gateway.reset();
    here = await tempDir('copy');
  });
  afterEach(() => here.remove());
  afterAll(() => gateway.stop());

  const cp = async (from: string, to: string) => {
    const [stdout, stderr] = [new CapturedOutput(), new CapturedOutput()];
    const { signal } = new AbortController();
    const host = { env: gateway.environment, stdin: Readable.from([]), stdout, stderr, signal };
    const status = await runCommandLine(['node', 'vmctl', 'cp', from, to], host);
    return { status, stdout: stdout.text, stderr: stderr.text };
  };
  const inGuest = (isDirectory: boolean): GatewayDouble => gateway.on('POST', EXEC, execView(isDirectory ? 0 : 1));
  const at = (...names: string[]): string => path.join(here.path, ...names);

  it('gives a file its name in the guest, and its permissions', async () => {
    await writeFile(at('tool.sh'), '#!/bin/sh\n', { mode: 0o750 });
    inGuest(false).on('PUT', FILES, { entries: 1, bytes: 10 });
    expect(await cp(at('tool.sh'), 'box:/root/other.sh')).toMatchObject({ status: 0 });
    expect(gateway.requests.at(-1)).toMatchObject({
      url: `${FILES}?path=%2Froot%2Fother.sh&archive=file&mode=750`,
      body: '#!/bin/sh\n',
    });
  });

  it('puts a file into a directory of the guest under its own name', async () => {
    await writeFile(at('tool.sh'), '');
    inGuest(true).on('PUT', FILES, { entries: 1, bytes: 0 });
    expect(await cp(at('tool.sh'), 'box:/root')).toMatchObject({ status: 0 });
    expect(gateway.requests.at(-1)?.url).toContain('path=%2Froot%2Ftool.sh&');
  });

  it('sends nothing when there is nothing to send', async () => {
    expect(await cp(at('missing'), 'box:/root/')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('CLI_FILE_UNREADABLE'),
    });
    expect(gateway.requests).toEqual([]);
  });

  it('writes a file of the guest under the name that was asked for', async () => {
    inGuest(false).on('GET', FILES, (_, response) => response.end('content'));
    expect(await cp('box:/etc/motd', at('motd'))).toMatchObject({ status: 0 });
    expect(await readFile(at('motd'), 'utf8')).toBe('content');
    expect(await readdir(here.path)).toEqual(['motd']);
  });

  it('puts a file of the guest into a directory that exists, under its own name', async () => {
    inGuest(false).on('GET', FILES, (_, response) => response.end('content'));
    expect(await cp('box:/etc/motd', here.path)).toMatchObject({ status: 0 });
    expect(await readdir(here.path)).toEqual(['motd']);
  });

  it('leaves nothing when the stream breaks off', async () => {
    inGuest(false).on('GET', FILES, (_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy());
    });
    expect(await cp('box:/etc/motd', at('motd'))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('CLI_COPY_BROKEN'),
    });
    expect(await readdir(here.path)).toEqual([]);
  });

  it('leaves a file that was there as it was when the copy fails', async () => {
    await writeFile(at('motd'), 'before');
    inGuest(false).on('GET', FILES, (_, response) => sendProblem(response, 404, 'PATH_NOT_FOUND', 'no such file'));
    expect(await cp('box:/etc/motd', at('motd'))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('PATH_NOT_FOUND'),
    });
    expect(await readFile(at('motd'), 'utf8')).toBe('before');
  });

  it('says which directory of this host cannot be written', async () => {
    inGuest(false).on('GET', FILES, (_, response) => response.end('content'));
    expect(await cp('box:/etc/motd', at('missing', 'motd'))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('CLI_TARGET_UNWRITABLE'),
    });
  });

  it('does not mix a directory of the guest with one that exists', async () => {
    await mkdir(at('etc'));
    inGuest(true);
    expect(await cp('box:/etc', here.path)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('CLI_TARGET_EXISTS'),
    });
    expect(gateway.requests.map(({ url }) => url)).toEqual([EXEC]);
    expect(await readdir(at('etc'))).toEqual([]);
  });

  it('unpacks a directory without what could harm this host, and says what it left out', async () => {
    const archive = pack();
    archive.entry({ name: 'tool', mode: 0o4755, uid: 4242 }, 'x');
    archive.entry({ name: 'out', type: 'symlink', linkname: '/etc/passwd' });
    archive.entry({ name: 'zero', type: 'character-device' });
    archive.finalize();
    inGuest(true).on('GET', FILES, (_, response) => void archive.pipe(response));
    const { status, stderr } = await cp('box:/srv', at('srv'));
    expect(status).toBe(0);
    expect(stderr).toContain('left out: out,');
    expect(stderr).toContain('left out: zero,');
    expect(await readdir(at('srv'))).toEqual(['tool']);
    expect(await stat(at('srv', 'tool'))).toMatchObject({ mode: 0o100755, uid: process.getuid?.() });
  });

  it.each([
    ['that leaves its directory', '../escaped'],
    ['that is absolute', '/tmp/escaped'],
  ])('refuses an archive with a name %s, and keeps nothing of it', async (_, name) => {
    const archive = pack();
    archive.entry({ name: 'first' }, 'x');
    archive.entry({ name }, 'x');
    archive.finalize();
    inGuest(true).on('GET', FILES, (_request, response) => void archive.pipe(response));
    expect(await cp('box:/srv', at('srv'))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('CLI_COPY_BROKEN'),
    });
    expect(await readdir(here.path)).toEqual([]);
  });

  it('writes through no link that the archive itself has made', async () => {
    const archive = pack();
    archive.entry({ name: 'dir', type: 'symlink', linkname: 'other' });
    archive.entry({ name: 'dir/file' }, 'x');
    archive.finalize();
    await mkdir(at('target'));
    await symlink(at('target'), at('other'));
    inGuest(true).on('GET', FILES, (_, response) => void archive.pipe(response));
    await cp('box:/srv', at('srv'));
    expect(await readdir(at('target'))).toEqual([]);
  });
});

function execView(exitCode: number): object {
  const output = { text: '', totalBytes: 0, droppedBytes: 0, isLossy: false };
  return { exitCode, signal: null, timedOut: false, durationMs: 1, stdout: output, stderr: output };
}
