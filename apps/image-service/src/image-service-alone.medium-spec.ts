import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ImageDiffView, ImageVersionDetail, ImageView } from '@inquest/contracts-image';
import type { OperationView } from '@inquest/contracts-base';
import { runCommand } from '@inquest/process';
import { eventually } from '@inquest/testing';
import { ImageServiceHarness, TOKEN } from './testing/image-service-harness';
import { ImportSources, sha256 } from './testing/import-sources';

const WAIT_MS = 50_000;

/** Only NATS, Postgres and the process of image-service, driven through its admin REST. */
describe('image-service deployed alone', () => {
  let images: ImageServiceHarness;

  beforeAll(async () => {
    images = await ImageServiceHarness.start({}, { isProcess: true, hasVmService: false });
  }, 240_000);
  afterAll(() => images.stop(), 120_000);

  const request = async (method: string, route: string, body?: object): Promise<Response> =>
    fetch(`${images.url}${route}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const ask = async <T>(method: string, route: string, body?: object): Promise<T> => {
    const response = await request(method, route, body);
    if (!response.ok) throw new Error(`${method} ${route}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  const endOf = ({ operationId }: OperationView) =>
    ask<OperationView>('GET', `/v1/operations/${operationId}?waitMs=${WAIT_MS}`);
  const work = async (route: string, body: object = {}) => endOf(await ask<OperationView>('POST', route, body));
  const show = (name = 'tiny') => ask<ImageView>('GET', `/v1/images/${name}`);
  const versionOf = async (version: number) => (await show()).versions.find((found) => found.version === version);

  it('is ready, and describes what it does', async () => {
    const ready = await fetch(`${images.url}/readyz`);
    expect([ready.status, ((await ready.json()) as { status?: string }).status]).toEqual([200, expect.anything()]);
    const { paths } = await ask<{ paths: object }>('GET', '/openapi.json');
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining([
        '/v1/images/{name}/import',
        '/v1/images/{name}/unfreeze',
        '/v1/images/{name}/versions/{version}/retire',
        '/v1/images/{name}/diff',
      ]),
    );
  });

  it('builds from a recipe, with the log of it', async () => {
    await expect(work('/v1/images/tiny/build')).resolves.toMatchObject({ state: 'succeeded' });
    const { text } = await ask<{ text: string }>('GET', '/v1/images/tiny/versions/1/log');
    expect(text).toContain('packing the initramfs');
  });

  it('tells the steps of an operation as server-sent events until it has ended', async () => {
    await images.tools.mark('hold');
    const { operationId } = await ask<OperationView>('POST', '/v1/images/tiny/build');
    const stream = await request('GET', `/v1/operations/${operationId}/events`);
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    // Until then its recipe is read, of which the mark is a file.
    await eventually(async () => (await versionOf(2))?.state === 'building');
    await images.tools.unmark('hold');
    const told = await stream.text();
    const states = [...told.matchAll(/^event: operation\ndata: (.+)$/gm)].map(
      ([, data]) => (JSON.parse(data ?? '') as { operation: OperationView }).operation,
    );
    expect(states[0]).toMatchObject({ operationId, state: 'running' });
    expect(states.at(-1)).toMatchObject({ operationId, state: 'succeeded', step: 'done' });
    const unknown = await request('GET', '/v1/operations/op-nobody/events');
    expect([unknown.status, ((await unknown.json()) as { code: string }).code]).toEqual([404, 'OPERATION_UNKNOWN']);
    await ask('DELETE', '/v1/images/tiny/versions/2');
  });

  it('imports by path and by upload, with the digest checked', async () => {
    const sources = new ImportSources(path.join(images.home, 'imports'));
    await sources.ext4('disk.ext4');
    const bytes = await readFile(sources.at('disk.ext4'));
    const declared = { format: 'ext4', digest: sha256(bytes) };
    const byPath = { ...declared, path: 'disk.ext4' };
    await expect(work('/v1/images/imported/import', byPath)).resolves.toMatchObject({ state: 'succeeded' });
    const wrong = { ...byPath, digest: `sha256:${'0'.repeat(64)}` };
    await expect(work('/v1/images/imported/import', wrong)).resolves.toMatchObject({
      error: { code: 'IMAGE_SOURCE_DIGEST_WRONG' },
    });
    const query = new URLSearchParams(declared).toString();
    const response = await fetch(`${images.url}/v1/images/imported/import?${query}`, {
      method: 'PUT',
      body: new Uint8Array(bytes),
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(response.status).toBe(202);
    await expect(endOf((await response.json()) as OperationView)).resolves.toMatchObject({ state: 'succeeded' });
    const { versions } = await show('imported');
    expect(versions.map(({ state }) => state)).toEqual(['built', 'failed', 'built']);
  });

  it('cannot prove a version without a vm-service: the freeze says so, and the version is as it was', async () => {
    await expect(work('/v1/images/tiny/freeze')).resolves.toMatchObject({
      state: 'failed',
      error: {
        code: 'NODE_UNAVAILABLE',
        message: expect.stringContaining('vm-service'),
        remediation: expect.any(String),
      },
    });
    await expect(versionOf(1)).resolves.toMatchObject({ state: 'built', checks: [] });
  });

  describe('of what was frozen while a vm-service was there', () => {
    beforeAll(async () => {
      await images.startVmService();
      await expect(work('/v1/images/tiny/freeze')).resolves.toMatchObject({ state: 'succeeded' });
      await work('/v1/images/tiny/build');
      await expect(work('/v1/images/tiny/freeze')).resolves.toMatchObject({ state: 'succeeded' });
      await images.vm.stop();
    }, 120_000);

    it('verifies every byte', async () => {
      await expect(work('/v1/images/tiny/verify', { version: 3 })).resolves.toMatchObject({ state: 'succeeded' });
    });

    it('shows lineage, files and disk use', async () => {
      const detail = await ask<ImageVersionDetail>('GET', '/v1/images/tiny/versions/3');
      expect(detail).toMatchObject({ machines: [], children: [], version: { state: 'frozen' } });
      expect(detail.diskUseBytes).toBeGreaterThan(0);
      expect(detail.files.map(({ file }) => file)).toEqual(['disk.raw', 'initramfs.cpio', 'vmlinux']);
    });

    it('opens a working copy, compares it with its parent, and discards it', async () => {
      await expect(work('/v1/images/tiny/unfreeze', { reason: 'a tool' })).resolves.toMatchObject({
        state: 'succeeded',
      });
      const source = path.join(images.home, 'tool');
      await writeFile(source, 'a tool');
      await runCommand('debugfs', ['-w', '-R', `write ${source} tool`, images.fileOf(4, 'disk.raw')]);
      const { files } = await ask<ImageDiffView>('GET', '/v1/images/tiny/diff?from=3&to=4');
      expect(files).toEqual([expect.objectContaining({ path: '/tool', change: 'added' })]);
      const refused = await request('POST', '/v1/images/tiny/versions/3/retire');
      expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([409, 'IMAGE_IN_USE']);
      await expect(ask('DELETE', '/v1/images/tiny/versions/4')).resolves.toMatchObject({ isRemoved: true });
    });

    it('retires a version and removes its files', async () => {
      await expect(ask('POST', '/v1/images/tiny/versions/3/retire')).resolves.toMatchObject({ state: 'retired' });
      await expect(ask('DELETE', '/v1/images/tiny/versions/3')).resolves.toMatchObject({ isRemoved: true });
      await expect(show()).resolves.toMatchObject({ frozenVersion: 1 });
    });
  });

  it('starts again and knows what it knew', async () => {
    const before = await show();
    await images.stopImageService();
    await images.startImageService();
    await expect(show()).resolves.toEqual(before);
  });
});
