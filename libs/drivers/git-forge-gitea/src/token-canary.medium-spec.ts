import { readdir, readFile } from 'node:fs/promises';
import { inspect } from 'node:util';
import { startGiteaFixture, TOKEN, type GiteaFixture } from './testing/gitea-fixture';
import { seeProcesses, tokenFormsIn, type SeenProcess } from './testing/token-sightings';

jest.setTimeout(120_000);

const never = new AbortController().signal;

describe('the token of a forge', () => {
  let made: GiteaFixture;
  beforeEach(async () => {
    made = await startGiteaFixture();
  });
  afterEach(() => made.close());

  const publish = async (branch: string): Promise<void> => {
    const { repositoryPath, commits } = made;
    await made.forge.ensureRepository('demo', never);
    await made.forge.push({ repositoryPath, project: 'demo', branch, commit: commits.second }, never);
  };

  it('is in no argument and no environment of any process while git pushes with it', async () => {
    const seen: SeenProcess[] = [];
    // Git, whatever it has started and whatever started it wait meanwhile for the answer of the server.
    made.double.onRequest = async () => void seen.push(...(await seeProcesses()));
    await publish('main');
    expect(seen.filter(({ tokenForms }) => tokenForms.length > 0)).toEqual([]);
    expect(made.double.requests).toContainEqual(expect.stringMatching(/git-receive-pack$/));
    expect(seen).toContainEqual({ command: expect.stringContaining('remote-http'), tokenForms: [] });
    expect(await made.headOf('demo', 'main')).toBe(made.commits.second);
  });

  it('is in no file that a push leaves behind', async () => {
    await publish('main');
    const names = await readdir(made.directory, { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile()).map((entry) => `${entry.parentPath}/${entry.name}`);
    const holders: string[] = [];
    for (const file of files) if (tokenFormsIn(await readFile(file, 'latin1')).length > 0) holders.push(file);
    expect(holders).toEqual([made.tokenFile]);
  });

  it.each([
    ['git is turned away', /info\/refs$/, 401],
    ['git meets a failing server', /info\/refs$/, 503],
    ['git may not push', /git-receive-pack$/, 403],
    ['the API turns it away', /repos/, 401],
    ['the API fails', /repos/, 500],
    ['the API says it back', /repos/, 403],
  ])('is in no error when %s', async (_, request, status) => {
    await made.forge.ensureRepository('demo', never);
    const headers = { 'www-authenticate': 'Basic realm="Gitea"' };
    made.double.faults.push({ request, times: 99, reply: { status, headers, body: { message: `not with ${TOKEN}` } } });
    const error: unknown = await publish('main').then(
      () => null,
      (e: unknown) => e,
    );
    const shown = inspect(error, { depth: 20, showHidden: true });
    expect(shown).toContain('FORGE_');
    expect(tokenFormsIn(shown)).toEqual([]);
    expect(await made.headOf('demo', 'main')).toBeNull();
  });
});
