import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { imageOps } from '@inquest/contracts-image';
import { dto } from '@inquest/contracts-base';
import { StartMachineRequest } from '@inquest/contracts-vm';
import { eventually } from '@inquest/testing';
import { OperationEntity } from './operations/operation.entity';
import { ImageVersionEntity } from './images/image-version.entity';
import { ImageServiceHarness, TOKEN } from './testing/image-service-harness';

describe('image-service as a service', () => {
  let images: ImageServiceHarness;

  beforeAll(async () => {
    images = await ImageServiceHarness.start();
  }, 120_000);
  afterAll(() => images.stop(), 60_000);

  const request = async (route: string, init: RequestInit = {}, token: string | null = TOKEN) => {
    const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
    const headers = { 'content-type': 'application/json', ...authorization };
    const response = await fetch(`${images.url}${route}`, { headers, ...init });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, text, body: (isJson ? JSON.parse(text) : {}) as Record<string, unknown> };
  };

  it.each(['/healthz', '/readyz'])('answers %s without a token', async (route) => {
    await expect(request(route, {}, null)).resolves.toMatchObject({ status: 200 });
  });

  it.each(['/v1/images', '/health', '/v1/operations/op-1'])('answers %s only with a token', async (route) => {
    await expect(request(route, {}, null)).resolves.toMatchObject({
      status: 401,
      body: { code: 'HTTP_TOKEN_MISSING' },
    });
    await expect(request(route, {}, 'guessed')).resolves.toMatchObject({ body: { code: 'HTTP_TOKEN_REFUSED' } });
  });

  it('describes its routes and counts its requests', async () => {
    const { body } = await request('/openapi.json');
    expect(Object.keys(body['paths'] as object)).toEqual(
      expect.arrayContaining([
        '/v1/images',
        '/v1/images/{name}',
        '/v1/images/{name}/build',
        '/v1/images/{name}/freeze',
        '/v1/images/{name}/verify',
        '/v1/images/{name}/versions/{version}/log',
        '/v1/operations/{operationId}',
      ]),
    );
    expect((await request('/metrics')).text).toMatch(/^# TYPE /m);
  });

  it('builds an image without a gateway', async () => {
    const accepted = await request('/v1/images/tiny/build', { method: 'POST' });
    expect(accepted).toMatchObject({ status: 202, body: { kind: 'image.build', state: 'running' } });
    const operationId = String(accepted.body['operationId']);
    const ended = await request(`/v1/operations/${operationId}?waitMs=50000`);
    expect(ended.body).toMatchObject({ state: 'succeeded' });
    await expect(request('/v1/images/tiny')).resolves.toMatchObject({ body: { name: 'tiny', frozenVersion: null } });
    const log = await request('/v1/images/tiny/versions/1/log');
    expect(log.body['text']).toContain('writing the disk');
    await expect(request('/v1/images')).resolves.toMatchObject({ body: { items: [{ name: 'tiny' }] } });
  });

  it.each([
    ['POST', '/v1/images/nope/build', undefined, 404, 'IMAGE_RECIPE_UNKNOWN'],
    ['POST', '/v1/images/tiny/freeze', { version: 99 }, 404, 'IMAGE_UNKNOWN'],
    ['POST', '/v1/images/tiny/freeze', { version: 'new' }, 400, 'INPUT_INVALID'],
    ['POST', '/v1/images/tiny/freeze', { surplus: 1 }, 400, 'INPUT_INVALID'],
    ['POST', '/v1/images/tiny/verify', undefined, 409, 'IMAGE_STATE_WRONG'],
    ['GET', '/v1/images/..%2Fetc', undefined, 400, 'INPUT_INVALID'],
    ['GET', '/v1/images/nope', undefined, 404, 'IMAGE_UNKNOWN'],
    ['GET', '/v1/operations/op-nobody', undefined, 404, 'OPERATION_UNKNOWN'],
  ] as const)('refuses %s %s %j', async (method, route, body, status, code) => {
    const answer = await request(route, body === undefined ? { method } : { method, body: JSON.stringify(body) });
    expect(answer).toMatchObject({ status, body: { status, code, remediation: expect.any(String) } });
  });

  it('ends a build that is at work when it is stopped, and says so', async () => {
    await images.tools.mark('hold');
    const { operationId } = await images.call(imageOps.build, { name: 'tiny' });
    await eventually(async () => (await request('/v1/operations/' + operationId)).body['step'] === 'disk of tiny');
    const stoppedAt = performance.now();
    await images.stopImageService();
    expect(performance.now() - stoppedAt).toBeLessThan(9_500);
    await images.startImageService();
    await images.tools.unmark('hold');
    await expect(images.endOf({ operationId })).resolves.toMatchObject({
      state: 'cancelled',
      error: { code: 'OPERATION_INTERRUPTED', message: expect.stringContaining('image.build') },
    });
    await expect(images.newest()).resolves.toMatchObject({ state: 'failed' });
    expect(await readdir(path.join(images.home, 'images'))).not.toContain('.staging');
    await expect(images.build()).resolves.toMatchObject({ state: 'succeeded' });
  });

  it('tidies up after a life that was killed: operations, versions, staged files, smoke machines', async () => {
    const { database, vm } = images;
    const operationId = 'op-killed';
    const { version } = await images.newest();
    await database.getRepository(OperationEntity).insert({
      operationId,
      kind: 'image.freeze',
      image: 'tiny',
      imageVersion: version,
      state: 'running',
      step: 'boot',
      percent: 10,
      error: null,
      startedAt: new Date(),
      endedAt: null,
    });
    await database.getRepository(ImageVersionEntity).update({ name: 'tiny', version }, { state: 'building' });
    await mkdir(path.join(images.home, 'images', '.staging', 'stage-left'), { recursive: true });
    await images.stopImageService();
    // No node answers at first: the machine must be found when one does.
    await vm.stop();
    await images.startImageService();
    await images.startVmService();
    const left = images.vm.begin(dto(StartMachineRequest, { image: 'tiny', owner: operationId, purpose: 'smoke' }));
    const other = images.vm.begin(dto(StartMachineRequest, { image: 'tiny', owner: 'op-other' }));
    await eventually(() => left.view.isRemoved);
    expect(other.isLive).toBe(true);
    await expect(images.endOf({ operationId })).resolves.toMatchObject({
      state: 'failed',
      error: { code: 'OPERATION_INTERRUPTED' },
    });
    await expect(images.newest()).resolves.toMatchObject({ version, state: 'failed' });
    expect(await readdir(path.join(images.home, 'images'))).not.toContain('.staging');
  });
});
