import { vmError, vmOps } from '@inquest/contracts-vm';
import { GatewayHarness, TOKEN } from './testing/gateway-harness';
import { MACHINE_ID } from './testing/machine-routes';
import { ROUTES, STREAMED } from './testing/route-table';

const MACHINE = { machineId: MACHINE_ID, state: 'ready', createdAtMs: 1 };

describe('the gateway', () => {
  let edge: GatewayHarness;

  beforeAll(async () => {
    edge = await GatewayHarness.start();
  }, 120_000);
  afterAll(() => edge.stop(), 60_000);
  beforeEach(() => {
    edge.calls.length = 0;
    edge.answering = (subject) => {
      if (subject === vmOps.nodes.subject) return { node: 'n1', memoryAvailableMib: 4096 };
      return subject === vmOps.list.subject || subject === vmOps.find.subject ? { items: [MACHINE] } : MACHINE;
    };
  });

  it('has a row here for every route that it describes', async () => {
    const { body } = await edge.request('GET', '/openapi.json');
    const paths = body['paths'] as Record<string, Record<string, unknown>>;
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual([...ROUTES.map(({ route }) => route), ...STREAMED].sort());
  });

  it.each(ROUTES)(
    'turns $route into a call of its service',
    async ({ route, call, body, status = 200, subject, request }) => {
      const answer = await edge.request(route.split(' ')[0] ?? '', call, body);
      expect(answer.status).toBe(status);
      expect(edge.calls.at(-1)).toMatchObject({ subject, request });
    },
  );

  it.each(ROUTES)('does nothing for $route without an accepted token', async ({ route, call, body }) => {
    const method = route.split(' ')[0] ?? '';
    for (const authorization of ['', 'Bearer guessed', `Basic ${TOKEN}`]) {
      const answer = await edge.request(method, call, body, { authorization });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    expect(edge.calls).toEqual([]);
  });

  it('sends verbs straight to the node that the id names, and asks all nodes for a name', async () => {
    await edge.request('GET', `/v1/machines/${MACHINE_ID}`);
    expect(edge.calls).toEqual([expect.objectContaining({ subject: vmOps.show.subject, node: 'n1' })]);
    edge.calls.length = 0;
    await edge.request('POST', '/v1/machines/box/exec', { command: 'true' });
    expect(edge.calls.map(({ subject, node }) => [subject, node])).toEqual([
      [vmOps.find.subject, null],
      [vmOps.exec.subject, 'n1'],
    ]);
  });

  it.each([
    { method: 'POST', route: '/v1/machines', body: { image: 'tiny', purpose: 'smoke' }, property: 'purpose' },
    { method: 'POST', route: '/v1/machines', body: { image: 'tiny', owner: 'ses-1' }, property: 'owner' },
    { method: 'POST', route: '/v1/machines', body: { image: 'Tiny!' }, property: 'image' },
    { method: 'POST', route: '/v1/machines', body: { image: 'tiny', rtcBaseMs: 1e15 }, property: 'rtcBaseMs' },
    { method: 'POST', route: `/v1/machines/${MACHINE_ID}/screen/click`, body: { x: -1, y: 0 }, property: 'x' },
    { method: 'POST', route: `/v1/machines/${MACHINE_ID}/screen/type`, body: { text: '' }, property: 'text' },
    {
      method: 'POST',
      route: `/v1/machines/${MACHINE_ID}/exec`,
      body: { command: 'true', env: { A: 1 } },
      property: 'env',
    },
    {
      method: 'POST',
      route: `/v1/machines/${MACHINE_ID}/exec`,
      body: { command: 'true', env: { 'A=B': '1' } },
      property: 'env',
    },
    { method: 'POST', route: `/v1/machines/${MACHINE_ID}/exec`, body: { command: '' }, property: 'command' },
    { method: 'POST', route: '/v1/sessions', body: { project: '../etc' }, property: 'project' },
    { method: 'POST', route: '/v1/sessions/ses-1/runs', body: { prompt: 'x'.repeat(70_000) }, property: 'prompt' },
    { method: 'GET', route: '/v1/machines?limit=many', body: undefined, property: 'limit' },
    { method: 'GET', route: '/v1/machines?surplus=1', body: undefined, property: 'surplus' },
    { method: 'GET', route: `/v1/machines/${MACHINE_ID}/wait?state=happy`, body: undefined, property: 'state' },
    { method: 'GET', route: `/v1/machines/${MACHINE_ID}/evidence/passwd`, body: undefined, property: 'file' },
    { method: 'GET', route: '/v1/machines/..%2Fetc', body: undefined, property: 'machine' },
  ])(
    'refuses $method $route, naming $property, before anybody is called',
    async ({ method, route, body, property }) => {
      const answer = await edge.request(method, route, body);
      expect(answer).toMatchObject({ status: 400, body: { code: 'INPUT_INVALID', fault: 'caller' } });
      expect(answer.body['detail']).toContain(property);
      expect(edge.calls).toEqual([]);
    },
  );

  it('passes the error of a service on as a problem, with its details, under the trace id of the request', async () => {
    edge.answering = () => {
      throw vmError('NODE_EXHAUSTED', 'no node has 9999 MiB to spare', { memoryMib: 9999 });
    };
    const answer = await edge.request('GET', `/v1/machines/${MACHINE_ID}`, undefined, {
      'x-request-id': 'trace-12345678',
    });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.headers.get('x-request-id')).toBe('trace-12345678');
    expect(answer.body).toMatchObject({
      type: 'urn:inquest:error:NODE_EXHAUSTED',
      status: 503,
      code: 'NODE_EXHAUSTED',
      fault: 'infra',
      detail: 'no node has 9999 MiB to spare',
      remediation: expect.any(String),
      details: { memoryMib: 9999 },
      traceId: 'trace-12345678',
    });
  });

  it('masks an unexpected error', async () => {
    edge.answering = () => {
      throw new Error('password=hunter2');
    };
    const answer = await edge.request('GET', '/v1/images');
    expect(answer).toMatchObject({ status: 500, body: { code: 'INTERNAL' } });
    expect(JSON.stringify(answer.body)).not.toContain('hunter2');
  });

  it('answers an unknown route, a broken, an oversized and an undecodable body with a problem', async () => {
    await expect(edge.request('GET', '/v1/nothing')).resolves.toMatchObject({
      status: 404,
      body: { code: 'HTTP_ROUTE_UNKNOWN' },
    });
    await expect(edge.request('PATCH', '/v1/machines')).resolves.toMatchObject({ status: 404 });
    const raw = async (body: string, headers: Record<string, string> = {}) => {
      const init = {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...headers },
      };
      const response = await fetch(`${edge.url}/v1/machines`, init);
      return { status: response.status, code: ((await response.json()) as { code: string }).code };
    };
    expect(await raw('{"image": ')).toEqual({ status: 400, code: 'HTTP_REQUEST_INVALID' });
    expect(await raw(JSON.stringify({ image: 'x'.repeat(1024 * 1024) }))).toEqual({
      status: 413,
      code: 'HTTP_BODY_OVERSIZED',
    });
    expect(await raw('{}', { 'content-encoding': 'snappy' })).toEqual({ status: 415, code: 'HTTP_MEDIA_UNSUPPORTED' });
    expect(await raw('{}', { 'content-type': 'application/json; charset=latin9' })).toEqual({
      status: 415,
      code: 'HTTP_MEDIA_UNSUPPORTED',
    });
    expect(edge.calls).toEqual([]);
  });

  it('is live and ready without a token, and details itself only with one', async () => {
    for (const route of ['/healthz', '/readyz']) {
      await expect(edge.request('GET', route, undefined, { authorization: '' })).resolves.toMatchObject({
        status: 200,
      });
    }
    await expect(edge.request('GET', '/health', undefined, { authorization: '' })).resolves.toMatchObject({
      status: 401,
    });
    await expect(edge.request('GET', '/health')).resolves.toMatchObject({ status: 200, body: { service: 'gateway' } });
    const metrics = await edge.request('GET', '/metrics');
    expect(metrics.body['text']).toMatch(/^# TYPE /m);
  });

  it.each([
    [{ host: 'evil.example' }, 'HTTP_HOST_REFUSED'],
    [{ origin: 'https://evil.example' }, 'HTTP_ORIGIN_REFUSED'],
  ])('refuses what a page of another site sends: %j', async (headers, code) => {
    const answer = await edge.raw('/v1/machines', headers);
    expect(answer).toMatchObject({ status: 403, code });
    expect(edge.calls).toEqual([]);
  });
});
