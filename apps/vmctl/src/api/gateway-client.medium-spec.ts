import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { DestroyedView, MachineView } from '@inquest/contracts-vm';
import { tempDir } from '@inquest/testing';
import { GatewayDouble, sendJson, sendProblem, TOKEN } from '../testing/gateway-double';
import { sampleMachine } from '../testing/samples';
import { GatewayClient } from './gateway-client';

describe('GatewayClient', () => {
  let gateway: GatewayDouble;
  let client: GatewayClient;

  beforeAll(async () => {
    gateway = await GatewayDouble.start();
  });
  beforeEach(() => {
    gateway.reset();
    client = new GatewayClient(gateway.environment, new AbortController().signal);
  });
  afterAll(() => gateway.stop());

  it('sends the token, the query and the body, and gives the checked answer', async () => {
    gateway.on('POST', '/v1/machines', sampleMachine());
    const machine = await client.call(MachineView, 'POST', '/v1/machines', {
      query: { state: ['ready', 'ended'], waitMs: 5, all: true, nothing: null },
      body: { image: 'tiny' },
    });
    expect(machine).toMatchObject({ machineId: sampleMachine().machineId, state: 'ready' });
    expect(gateway.requests).toMatchObject([
      {
        url: '/v1/machines?state=ready&state=ended&waitMs=5&all=true',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        body: '{"image":"tiny"}',
      },
    ]);
  });

  it('ignores what a newer platform adds to an answer', async () => {
    gateway.on('GET', '/v1/machines/box', { ...sampleMachine(), color: 'blue' });
    expect(await client.call(MachineView, 'GET', '/v1/machines/box')).not.toHaveProperty('color');
  });

  it('throws a problem as the error that it carries', async () => {
    gateway.on('GET', '/v1/machines/box', (_, response) =>
      sendProblem(response, 404, 'MACHINE_UNKNOWN', 'no machine "box"'),
    );
    await expect(client.call(MachineView, 'GET', '/v1/machines/box')).rejects.toMatchObject({
      code: 'MACHINE_UNKNOWN',
      status: 404,
      message: 'no machine "box"',
      remediation: 'Do it otherwise.',
    });
  });

  it.each([
    ['an answer of another shape', 200, { machineId: 7 }],
    ['a failure that is no problem body', 502, { oops: true }],
  ])('calls %s CLI_ANSWER_INVALID', async (_, status, body) => {
    gateway.on('GET', '/v1/machines/box', (_request, response) => sendJson(response, status, body));
    await expect(client.call(MachineView, 'GET', '/v1/machines/box')).rejects.toMatchObject({
      code: 'CLI_ANSWER_INVALID',
    });
  });

  it('calls a server that is no gateway at all CLI_ANSWER_INVALID', async () => {
    gateway.on('GET', '/v1/machines/box', (_, response) => response.writeHead(200).end('<html>'));
    await expect(client.call(MachineView, 'GET', '/v1/machines/box')).rejects.toMatchObject({
      code: 'CLI_ANSWER_INVALID',
    });
  });

  it('says that the platform is down, and where it looked, when nobody listens', async () => {
    const gone = await GatewayDouble.start();
    const { environment, url } = gone;
    await gone.stop();
    const attempt = new GatewayClient(environment, new AbortController().signal).call(
      MachineView,
      'GET',
      '/v1/machines/box',
    );
    await expect(attempt).rejects.toMatchObject({ code: 'CLI_PLATFORM_DOWN', message: expect.stringContaining(url) });
  });

  it('says that the platform is down when no answer comes in time', async () => {
    gateway.on('GET', '/v1/machines/box', () => undefined);
    const attempt = client.call(MachineView, 'GET', '/v1/machines/box', { timeoutMs: 20 });
    await expect(attempt).rejects.toMatchObject({
      code: 'CLI_PLATFORM_DOWN',
      message: expect.stringContaining('no answer within 20 ms'),
    });
  });

  it('ends a request with its signal, and blames nobody', async () => {
    const interruption = new AbortController();
    gateway.on('GET', '/v1/machines/box', () => interruption.abort(new Error('interrupted')));
    const attempt = new GatewayClient(gateway.environment, interruption.signal).call(
      MachineView,
      'GET',
      '/v1/machines/box',
    );
    await expect(attempt).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('uses no connection twice, so that a quiet stream is nobody else’s business', async () => {
    gateway.on('GET', '/v1/machines/box', sampleMachine());
    for (const _ of [1, 2]) await client.call(MachineView, 'GET', '/v1/machines/box');
    expect(gateway.requests.map(({ headers }) => headers.connection)).toEqual(['close', 'close']);
  });

  it('streams a body in and an answer out', async () => {
    gateway.on('PUT', '/v1/machines/box/files', (request, response) => void request.pipe(response));
    const answer = await client.stream(
      'PUT',
      '/v1/machines/box/files',
      {},
      Readable.from([Buffer.from('by'), Buffer.from('tes')]),
    );
    expect(await text(answer)).toBe('bytes');
    expect(gateway.requests).toMatchObject([
      { headers: { 'content-type': 'application/octet-stream' }, body: 'bytes' },
    ]);
  });

  it('gives the refusal of an upload that is still on its way', async () => {
    gateway.on('PUT', '/v1/machines/box/files', (_, response) =>
      sendProblem(response, 409, 'MACHINE_STATE_WRONG', 'it has ended'),
    );
    const endless = new PassThrough();
    endless.write('first');
    await expect(client.stream('PUT', '/v1/machines/box/files', {}, endless)).rejects.toMatchObject({
      code: 'MACHINE_STATE_WRONG',
    });
    endless.destroy();
  });

  it('says that the platform is down for a home in which nothing runs', async () => {
    const home = await tempDir('home');
    const attempt = new GatewayClient({ INQUEST_HOME: home.path }, new AbortController().signal).call(
      DestroyedView,
      'DELETE',
      '/v1/machines/box',
    );
    await expect(attempt).rejects.toMatchObject({
      code: 'CLI_PLATFORM_DOWN',
      message: expect.stringContaining(home.path),
    });
    await home.remove();
  });

  it('says which token file cannot be read', async () => {
    const home = await tempDir('home');
    const environment = { INQUEST_HOME: home.path, INQUEST_URL: gateway.url };
    const attempt = new GatewayClient(environment, new AbortController().signal).call(
      DestroyedView,
      'DELETE',
      '/v1/machines/box',
    );
    await expect(attempt).rejects.toMatchObject({
      code: 'CLI_TOKEN_MISSING',
      message: expect.stringContaining(`${home.path}/token`),
    });
    expect(gateway.requests).toEqual([]);
    await home.remove();
  });
});
