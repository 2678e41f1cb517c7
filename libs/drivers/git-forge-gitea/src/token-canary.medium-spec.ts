import { readdir, readFile } from 'node:fs/promises';
import { inspect } from 'node:util';
import { startGiteaFixture, TOKEN, type GiteaFixture } from './testing/gitea-fixture';

jest.setTimeout(120_000);

const never = new AbortController().signal;
const FORMS = [TOKEN, Buffer.from(`inquest:${TOKEN}`).toString('base64'), Buffer.from(TOKEN).toString('base64')];

/** A process of this host, as everybody on it may see it. */
interface SeenProcess {
  /** Its program and first argument. */
  readonly program: string;
  readonly showsToken: boolean;
}

const textOf = (file: string): Promise<string> => readFile(file, 'latin1').catch(() => ''); // it may be gone by now

async function seeProcesses(): Promise<SeenProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return Promise.all(
    pids.map(async (pid) => {
      const [commandLine, environment] = await Promise.all([
        textOf(`/proc/${pid}/cmdline`),
        textOf(`/proc/${pid}/environ`),
      ]);
      const shown = `${commandLine}${environment}`;
      return {
        program: commandLine.split('\0').slice(0, 2).join(' '),
        showsToken: FORMS.some((form) => shown.includes(form)),
      };
    }),
  );
}

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
    expect(seen.filter((one) => one.showsToken)).toEqual([]);
    expect(made.double.requests).toContainEqual(expect.stringMatching(/git-receive-pack$/));
    expect(seen).toContainEqual({ program: expect.stringContaining('remote-http'), showsToken: false });
    expect(await made.headOf('demo', 'main')).toBe(made.commits.second);
  });

  it('is in no file that a push leaves behind', async () => {
    await publish('main');
    const names = await readdir(made.directory, { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile()).map((entry) => `${entry.parentPath}/${entry.name}`);
    const holders: string[] = [];
    for (const file of files)
      if (
        FORMS.some(
          (
            (text) => (form) =>
              text.includes(form)
          )(await textOf(file)),
        )
      )
        holders.push(file);
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
    expect(FORMS.filter((form) => shown.includes(form))).toEqual([]);
    expect(await made.headOf('demo', 'main')).toBeNull();
  });
});
