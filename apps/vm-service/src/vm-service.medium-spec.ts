import { TOKEN, VmServiceHarness } from './testing/vm-service-harness';

describe('the REST API of vm-service', () => {
  let vm: VmServiceHarness;

  beforeAll(async () => {
    vm = await VmServiceHarness.start();
  }, 120_000);
  afterAll(() => vm.stop(), 60_000);

  const request = async (route: string, init: RequestInit = {}, token: string | null = TOKEN) => {
    const headers = {
      'content-type': 'application/json',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    };
    const response = await fetch(`${vm.url}${route}`, { headers, ...init });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, text, body: (isJson ? JSON.parse(text) : {}) as Record<string, unknown> };
  };

  it.each(['/healthz', '/readyz'])('answers %s without a token', async (route) => {
    await expect(request(route, {}, null)).resolves.toMatchObject({ status: 200 });
  });

  it.each(['/v1/machines', '/v1/node', '/health'])('answers %s only with a token', async (route) => {
    await expect(request(route, {}, null)).resolves.toMatchObject({
      status: 401,
      body: { code: 'HTTP_TOKEN_MISSING' },
    });
    await expect(request(route, {}, 'guessed')).resolves.toMatchObject({
      status: 401,
      body: { code: 'HTTP_TOKEN_REFUSED' },
    });
    await expect(request(route)).resolves.toMatchObject({ status: 200 });
  });

  it('describes its routes', async () => {
    const { body } = await request('/openapi.json');
    expect(Object.keys(body['paths'] as object)).toEqual(
      expect.arrayContaining([
        '/v1/machines',
        '/v1/machines/{machineId}',
        '/v1/machines/{machineId}/verdict',
        '/v1/node',
        '/v1/streams/{ticket}',
      ]),
    );
  });

  it('counts requests in its metrics', async () => {
    const { status, text } = await request('/metrics');
    expect(status).toBe(200);
    expect(text).toMatch(/^# TYPE /m);
  });

  it('starts, shows, lists and destroys a machine without a gateway', async () => {
    const started = await request('/v1/machines', { method: 'POST', body: JSON.stringify({ image: 'tiny' }) });
    expect(started).toMatchObject({ status: 202, body: { state: 'requested' } });
    const machineId = String(started.body['machineId']);
    await vm.waitFor(machineId, 'ready');
    await expect(request(`/v1/machines/${machineId}`)).resolves.toMatchObject({ body: { state: 'ready' } });
    await expect(request(`/v1/machines/${machineId}/verdict`)).resolves.toMatchObject({
      body: { isProvisional: true, verdict: { class: 'still_running' } },
    });
    const removed = await request(`/v1/machines/${machineId}`, { method: 'DELETE' });
    expect(removed).toMatchObject({ status: 200, body: { killed: true, verdict: { class: 'host_killed' } } });
    const { body } = await request('/v1/machines?includeEnded=true');
    // A listing leaves the quotes out.
    expect(body['items']).toContainEqual(
      expect.objectContaining({ machineId, verdict: expect.objectContaining({ deciding: [] }) }),
    );
    await expect(request('/v1/machines')).resolves.toMatchObject({ body: { items: [] } });
  });

  it.each([
    ['/v1/machines/n1-nowhere999', 'GET', undefined, 404, 'MACHINE_UNKNOWN'],
    ['/v1/machines/..%2F..%2Fetc', 'GET', undefined, 400, 'INPUT_INVALID'],
    ['/v1/machines', 'POST', { image: 'nope' }, 404, 'IMAGE_UNKNOWN'],
    ['/v1/machines', 'POST', { image: 'tiny', surplus: 1 }, 400, 'INPUT_INVALID'],
    ['/v1/machines?limit=0', 'GET', undefined, 400, 'INPUT_INVALID'],
    ['/v1/nothing', 'GET', undefined, 404, 'HTTP_ROUTE_UNKNOWN'],
  ] as const)('refuses %s %s %j with a problem', async (route, method, body, status, code) => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const answer = await request(route, init);
    expect(answer).toMatchObject({ status, body: { status, code, remediation: expect.any(String) } });
  });
});
