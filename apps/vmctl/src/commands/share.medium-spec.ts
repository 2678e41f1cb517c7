import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { tempDir, type TempDir } from '@inquest/testing';
import { runCommandLine } from '../run-command-line';
import { CapturedOutput } from '../testing/captured-output';
import { GatewayDouble, sendJson } from '../testing/gateway-double';
import { sampleMachine } from '../testing/samples';
import { placed } from './share.commands';

const OUTSIDE = { outsideLinks: 7, namedLinks: ['a', 'b', 'c', 'd', 'e', '\u001b[31mf'], isFullyLookedAt: true };

describe('directories for machines on the command line', () => {
  let gateway: GatewayDouble;
  let directory: TempDir;
  let docs: string;

  beforeAll(async () => {
    gateway = await GatewayDouble.start();
    directory = await tempDir('shares');
    docs = path.join(directory.path, 'docs');
    await mkdir(docs);
    await writeFile(path.join(docs, 'text'), 'x');
  });
  beforeEach(() => gateway.reset());
  afterAll(async () => {
    await gateway.stop();
    await directory.remove();
  });

  const vmctl = async (...args: readonly string[]) => {
    const [stdout, stderr] = [new CapturedOutput(), new CapturedOutput()];
    const host = { env: gateway.environment, stdin: Readable.from([]), stdout, stderr };
    const status = await runCommandLine(['node', 'vmctl', ...args], { ...host, signal: new AbortController().signal });
    return { status, stdout: stdout.text, stderr: stderr.text };
  };
  const shareOf = (guestPath: string) => ({ directory: docs, guestPath, isAttached: false, ...OUTSIDE });
  const sent = (at: number) => JSON.parse(gateway.requests[at]?.body ?? '') as object;

  it.each([
    ['/srv/docs', { directory: '/srv/docs', guestPath: '/mnt/docs' }],
    ['/srv/docs/:/x', { directory: '/srv/docs', guestPath: '/x' }],
    ['/srv/a:b', { directory: '/srv/a:b', guestPath: '/mnt/a:b' }],
    ['/srv/a:b:/x/y', { directory: '/srv/a:b', guestPath: '/x/y' }],
    ['docs', { directory: path.resolve('docs'), guestPath: '/mnt/docs' }],
  ])('reads %s as a directory and its place', (text, expected) => {
    expect(placed(text)).toEqual(expected);
  });

  it('are part of a machine that is asked for with them, and links that lead out are told without their control characters', async () => {
    gateway.on('POST', '/v1/machines', sampleMachine({ shares: [shareOf('/mnt/docs')] }));
    const { status, stderr } = await vmctl('new', 'tiny', '--share', docs, '--no-wait');
    expect(status).toBe(0);
    expect(sent(0)).toMatchObject({ shares: [{ directory: docs, guestPath: '/mnt/docs' }] });
    expect(stderr).toContain(
      `${docs}: links that lead out of it, which the guest cannot follow: a, b, c, d, e, and 2 more`,
    );
    expect(stderr).not.toContain('\u001b');
  });

  it('are given to a machine that exists, and it is said when it has them', async () => {
    gateway.on('POST', '/v1/machines/box/shares', sampleMachine({ shares: [shareOf('/srv')] }));
    const { status, stdout } = await vmctl('share', 'box', `${docs}:/srv`);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'box has it at /srv after: vmctl reset box\n' });
    expect(sent(0)).toEqual({ directory: docs, guestPath: '/srv' });
  });

  it('go into a running machine as a copy, as a tar of what is in them', async () => {
    gateway.on('PUT', '/v1/machines/box/files', (request, response) => {
      request.resume();
      request.once('end', () => sendJson(response, 200, {}));
    });
    const { status } = await vmctl('share', 'box', `${docs}:/srv/copy`, '--copy');
    expect(status).toBe(0);
    expect(gateway.requests[0]?.url).toBe('/v1/machines/box/files?path=%2Fsrv%2Fcopy&archive=tar');
    expect(gateway.requests[0]?.body).toContain('text');
  });

  it('are taken away, and nothing is when there is no such share', async () => {
    gateway.on('GET', '/v1/machines/box', sampleMachine({ shares: [shareOf('/srv')] }));
    gateway.on('DELETE', '/v1/machines/box/shares', sampleMachine());
    await expect(vmctl('unshare', 'box', '/srv')).resolves.toMatchObject({
      status: 0,
      stdout: expect.stringContaining('vmctl reset box'),
    });
    expect(gateway.requests.at(-1)?.url).toBe('/v1/machines/box/shares?guestPath=%2Fsrv');
  });

  it.each([
    [['new', 'tiny', '--copy', '.', '--no-wait']],
    [['new', 'tiny', '--count', '2']],
    [['new', 'tiny', '--group', 'lab', '--name', 'box']],
  ])('ask nobody for what does not fit together: %j', async (args) => {
    await expect(vmctl(...args)).resolves.toMatchObject({ status: 2, stdout: '' });
    expect(gateway.requests).toEqual([]);
  });

  it('start a group, of which each machine is waited for', async () => {
    const peers = [1, 2].map((index) =>
      sampleMachine({
        machineId: `local-234567892${index}`,
        name: `lab-${index}`,
        peer: { group: 'lab', index, address: `10.190.239.${index}` },
      }),
    );
    gateway.on('POST', '/v1/groups', { items: peers });
    for (const peer of peers) gateway.on('GET', `/v1/machines/${peer.machineId}/wait`, peer);
    const { status, stdout } = await vmctl('new', 'tiny', '--group', 'lab', '--count', '2');
    expect(status).toBe(0);
    expect(stdout).toContain('lab-2 (local-2345678922)  10.190.239.2');
    expect(sent(0)).toMatchObject({ group: 'lab', count: 2, machine: { image: 'tiny', name: null } });
  });
});
