import { inspect } from 'node:util';
import type { ApiReply } from './testing';
import { startElsewhere, type Elsewhere } from './testing/elsewhere';
import { startGiteaFixture, TOKEN, type GiteaFixture } from './testing/gitea-fixture';

jest.setTimeout(60_000);

const never = new AbortController().signal;
const PROJECT = 'demo';

/** What is wrong with an answer, and the answer. */
const INVALID: readonly (readonly [string, ApiReply])[] = [
  ['is a page for people', { status: 200, body: '<html>please sign in</html>' }],
  ['has no end', { status: 200, body: { id: 1, padding: 'x'.repeat(5_000_000) } }],
  ['has another shape', { status: 200, body: { id: 'one' } }],
  ['is a list', { status: 200, body: [] }],
  ['is null', { status: 200, body: null }],
  ['leads out of its place by its name', { status: 200, body: repositoryNamed('..') }],
  [
    'leads to another path by its owner',
    { status: 200, body: { ...repositoryNamed(PROJECT), owner: { login: '../x' } } },
  ],
  ['nests without an end', { status: 200, body: nested(1_000) }],
];

function repositoryNamed(name: string): object {
  return { id: 1, name, owner: { login: 'robot' }, archived: false, mirror: false };
}

function nested(depth: number): object {
  let value: object = {};
  for (let i = 0; i < depth; i++) value = { value };
  return value;
}

describe('GiteaForge at a hostile server', () => {
  let made: GiteaFixture;
  let elsewhere: Elsewhere;
  beforeEach(async () => {
    [made, elsewhere] = await Promise.all([startGiteaFixture(), startElsewhere()]);
  });
  afterEach(() => Promise.all([made.close(), elsewhere.close()]));

  const ensure = () => made.forge.ensureRepository(PROJECT, never);
  const push = () =>
    made.forge.push(
      { repositoryPath: made.repositoryPath, project: PROJECT, branch: 'main', commit: made.commits.first },
      never,
    );

  it.each(INVALID)('refuses an answer that %s', async (_, reply) => {
    made.double.faults.push({ request: /\/repos\/robot\/demo$/, times: 9, reply });
    await expect(ensure()).rejects.toMatchObject({ code: 'FORGE_RESPONSE_INVALID' });
    expect(made.double.requests.filter((one) => !one.endsWith('/demo'))).toEqual([]);
  });

  it.each([301, 302, 303, 307, 308])('follows no redirect (%d) of the API to another server', async (status) => {
    const reply = { status, headers: { location: `${elsewhere.url}/api/v1/repos/robot/demo` } };
    made.double.faults.push({ request: /demo$/, reply });
    await expect(ensure()).rejects.toMatchObject({ code: 'FORGE_RESPONSE_INVALID' });
    expect(elsewhere.requests).toEqual([]);
  });

  it.each([
    ['out of the API', '/user/settings'],
    ['with credentials', 'http://x:y@127.0.0.1/api/v1/repos/robot/demo'],
    ['to a file', 'file:///etc/passwd'],
    ['nowhere', ''],
    ['in a circle', '/api/v1/repos/robot/demo'],
  ])('follows no redirect %s', async (_, location) => {
    made.double.faults.push({ request: /demo$/, times: 20, reply: { status: 302, headers: { location } } });
    await expect(ensure()).rejects.toMatchObject({ code: 'FORGE_RESPONSE_INVALID' });
  });

  it('follows no redirect of what changes something', async () => {
    const reply = { status: 307, headers: { location: '/api/v1/repos/robot/other' } };
    made.double.faults.push({ request: /^POST/, reply });
    await expect(ensure()).rejects.toMatchObject({ code: 'FORGE_RESPONSE_INVALID' });
    expect(made.double.repositories.all()).toEqual([]);
  });

  it('sends neither commits nor the token where git is redirected to', async () => {
    await ensure();
    const reply = { status: 302, headers: { location: `${elsewhere.url}/robot/demo.git/info/refs` } };
    made.double.faults.push({ request: /info\/refs$/, times: 99, reply });
    await expect(push()).rejects.toMatchObject({ code: 'FORGE_UNAVAILABLE' });
    expect(elsewhere.requests).toEqual([]);
  });

  it('names its own addresses, not those that answers give', async () => {
    expect(await ensure()).toEqual({ url: `${made.double.url}/robot/demo` });
    await push();
    expect(made.double.requests.some((one) => one.includes('git-receive-pack'))).toBe(true);
  });

  it('does not read a list that never ends', async () => {
    await ensure();
    await push();
    const release = { id: 1, tag_name: 'x', target_commitish: 'main', draft: false, assets: [] };
    made.double.faults.push({ request: /releases$/, times: 9999, reply: { status: 200, body: [release] } });
    const asked = made.forge.publishRelease(
      { project: PROJECT, tag: 'v1', commit: made.commits.first, title: 'One', notes: '', artifacts: [] },
      never,
    );
    await expect(asked).rejects.toMatchObject({ code: 'FORGE_RESPONSE_INVALID' });
    expect(made.double.requests.filter((one) => one.endsWith('/releases'))).toHaveLength(40);
  });

  it.each([400, 401, 403, 418, 500])('does not repeat the token that an answer of %d says back', async (status) => {
    const basic = Buffer.from(`inquest:${TOKEN}`).toString('base64');
    const body = { message: `you sent ${TOKEN} and ${basic}\u001b[2J` };
    made.double.faults.push({ request: /demo$/, times: 9, reply: { status, body } });
    const error: unknown = await ensure().then(
      () => null,
      (e: unknown) => e,
    );
    expect(inspect(error, { depth: 10 })).toContain('you sent [token] and [token]');
    expect(inspect(error, { depth: 10 })).not.toContain(TOKEN);
    expect(inspect(error, { depth: 10 })).not.toContain(basic);
    expect((error as Error).message).not.toContain('\u001b');
  });
});
