import { readdir, readFile } from 'node:fs/promises';
import { inspect } from 'node:util';
import { startGiteaFixture, TOKEN, type GiteaFixture } from './testing/gitea-fixture';

jest.setTimeout(120_000);

const never = new AbortController().signal;
const FORMS = [TOKEN, Buffer.from(`inquest:${TOKEN}`).toString('base64'), Buffer.from(TOKEN).toString('base64')];
const ROUNDS = 8;

/** What was seen of all processes of this host while something ran. */
interface Sample {
  readonly hits: readonly string[];
  /** Programs that were seen to run. */
  readonly programs: ReadonlySet<string>;
}

const textOf = (file: string): Promise<string> => readFile(file, 'latin1').catch(() => ''); // it may be gone by now

/** Looks at arguments and environments of all processes, again and again, until `work` is done. */
async function sampleProcesses(work: Promise<unknown>): Promise<Sample> {
  const hits: string[] = [];
  const programs = new Set<string>();
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      const [commandLine, environment] = await Promise.all(
        ['cmdline', 'environ'].map((name) => textOf(`/proc/${pid}/${name}`)),
      );
      programs.add(commandLine?.split('\0').slice(0, 2).join(' ') ?? '');
      if (FORMS.some((form) => `${commandLine}${environment}`.includes(form))) hits.push(commandLine ?? '');
    }
  }
  await done;
  return { hits, programs };
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
    const pushes = async (): Promise<void> => {
      for (let round = 0; round < ROUNDS; round++) await publish(`branch-${round}`);
    };
    const { hits, programs } = await sampleProcesses(pushes());
    expect(hits).toEqual([]);
    // The samples were taken while git talked to the server, else they would prove nothing.
    expect([...programs].filter((program) => program.includes('remote-http'))).not.toEqual([]);
    expect(await made.headOf('demo', `branch-${ROUNDS - 1}`)).toBe(made.commits.second);
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
