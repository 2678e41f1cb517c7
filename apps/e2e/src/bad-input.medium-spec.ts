import { processesOf, qemusOf } from './testing/host-processes';
import { PlatformUnderTest } from './testing/platform-under-test';

/** What the platform refuses it refuses by a code of the catalogue, and nothing is left of the attempt. */
describe('bad input at the edge', () => {
  let platform: PlatformUnderTest;
  let processCount: number;

  beforeAll(async () => {
    platform = await PlatformUnderTest.create('bad-input');
    await platform.json('up');
    await platform.json('image', 'build', 'tiny');
    processCount = (await processesOf(platform.home)).length;
  }, 600_000);
  afterAll(() => platform.remove(), 120_000);

  afterEach(async () => {
    expect(await platform.request('/v1/machines?all=true')).toEqual({ status: 200, body: { items: [] } });
    expect(await qemusOf(platform.home)).toEqual(new Map());
    expect(await processesOf(platform.home)).toHaveLength(processCount);
    expect(await platform.leftovers()).toEqual([]);
  });

  it.each([
    ['an unknown image', ['new', 'nosuch'], 'IMAGE_UNKNOWN'],
    ['an unknown version', ['new', 'tiny:99'], 'IMAGE_UNKNOWN'],
    ['an image that is not frozen', ['new', 'tiny'], 'IMAGE_NOT_FROZEN'],
    ['more memory than the host has', ['new', 'tiny', '--memory', '1048576'], 'NODE_EXHAUSTED'],
    ['more memory than any host has', ['new', 'tiny', '--memory', '99999999'], 'INPUT_INVALID'],
    ['an image name that could be a path', ['new', '../tiny'], 'INPUT_INVALID'],
    ['a machine name that could be a path', ['new', 'tiny', '--name', '../box'], 'INPUT_INVALID'],
    ['an unknown machine', ['run', 'nosuch', 'true'], 'MACHINE_UNKNOWN'],
    ['a machine id that could be a path', ['show', '../../etc/passwd'], 'INPUT_INVALID'],
    ['a machine to copy from that is unknown', ['cp', 'nosuch:/etc/passwd', 'copy'], 'MACHINE_UNKNOWN'],
    ['an unknown session', ['close', 'nosuch'], 'SESSION_UNKNOWN'],
    ['an unknown publication', ['publish', 'show', 'nosuch'], 'PUBLICATION_UNKNOWN'],
    ['a project that could be a path', ['open', '../project'], 'INPUT_INVALID'],
    ['a recipe that there is not', ['image', 'build', 'nosuch'], 'IMAGE_RECIPE_UNKNOWN'],
  ])('refuses %s', async (_, args, code) => {
    const { exitCode, stdout, stderr } = await platform.vmctl([args[0] ?? '', '--json', ...args.slice(1)]);
    expect(JSON.parse(stderr)).toMatchObject({ code, remediation: expect.stringMatching(/\w/) });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  });

  it.each([
    ['a body that is no JSON', 'POST', '/v1/machines', '{"image":', 400],
    ['a body of another shape', 'POST', '/v1/machines', '[]', 400],
    ['an unknown property', 'POST', '/v1/machines', '{"image":"tiny","purpose":"smoke"}', 400],
    ['a property of the wrong type', 'POST', '/v1/machines', '{"image":"tiny","cpus":"two"}', 400],
    ['an unknown query parameter', 'GET', '/v1/machines?limit=1&sort=age', undefined, 400],
    ['an encoded path for an id', 'GET', '/v1/machines/..%2F..%2Fetc', undefined, 400],
  ])('answers %s with a problem', async (_, method, target, body, status) => {
    const answer = await platform.request(target, { method, ...(body === undefined ? {} : { body }) });
    expect(answer).toMatchObject({ status, body: { code: expect.stringMatching(/_INVALID$/), status } });
  });

  it.each([
    ['no token', {}],
    ['a wrong token', { authorization: 'Bearer wrong' }],
  ])('refuses a caller with %s', async (_, headers) => {
    const { body, status } = await platform.request('/v1/machines', { headers });
    expect({ status, code: body['code'] }).toEqual({ status: 401, code: expect.stringMatching(/^HTTP_/) });
  });
});
