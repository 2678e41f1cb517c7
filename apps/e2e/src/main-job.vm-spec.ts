import path from 'node:path';
import { runCommand } from '@inquest/process';
import { PlatformUnderTest } from './testing/platform-under-test';

interface Demonstration {
  readonly run: { readonly state: string };
  readonly session: {
    readonly sessionId: string;
    readonly project: string;
    readonly machineId: string;
    readonly state: string;
    readonly verdict: { readonly class: string };
    readonly publication: {
      readonly state: string;
      readonly isVerified: boolean;
      readonly branch: string;
      readonly commit: string;
      readonly url: string;
      readonly held: readonly { readonly path: string }[];
    };
  };
}

interface Entry {
  readonly type: string;
  readonly verb?: string;
  readonly outcome?: string;
  readonly sequence: number;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly result?: string;
  readonly counts?: readonly { readonly verb: string; readonly total: number }[];
}

/** From nothing to a published commit: one command, real services, a real guest. */
describe('vmctl demo session', () => {
  let platform: PlatformUnderTest;
  let shown: Demonstration;
  let entries: readonly Entry[];

  beforeAll(async () => {
    platform = await PlatformUnderTest.create('main-job');
    shown = await platform.json<Demonstration>('demo', 'session');
    entries = (await platform.json<{ entries: Entry[] }>('log', shown.session.sessionId)).entries;
  }, 600_000);
  afterAll(() => platform.remove(), 120_000);

  it('completes its run and closes its session', () => {
    expect(shown.run.state).toBe('completed');
    expect(shown.session).toMatchObject({ state: 'closed', verdict: { class: 'clean_poweroff' } });
  });

  it('leaves a transcript of every verb in order, from the plan to the census', () => {
    const verbs = entries.filter(({ type }) => type === 'verb').map(({ verb, outcome }) => `${verb} ${outcome}`);
    expect(verbs[0]).toBe('plan ok');
    expect(verbs).toEqual(expect.arrayContaining(['write_file ok', 'run ok', 'run refused', 'git_commit ok']));
    expect(verbs.at(-1)).toBe('done ok');
    const sequences = entries.map(({ sequence }) => sequence);
    expect(sequences).toEqual(sequences.map((_, index) => index + 1));
    expect(entries.map(({ type }) => type)).toEqual(expect.arrayContaining(['session_opened', 'verdict', 'census']));
    expect(entries.at(-1)?.type).toBe('session_closed');
  });

  it('keeps the secrets of the platform out of the transcript', async () => {
    const text = JSON.stringify(entries);
    const { stdout } = await runCommand('cat', [platform.layout.token, platform.layout.postgresPassword]);
    for (const secret of stdout.split('\n').filter((line) => line !== '')) expect(text).not.toContain(secret);
  });

  it('draws the same verdict again, offline, from the evidence bundle', async () => {
    const bundle = path.join(platform.layout.evidence, shown.session.machineId, '1');
    const stored = await runCommand('cat', [path.join(bundle, 'verdict.json')]);
    const drawn = await platform.json<Record<string, unknown>>('verdict', '--bundle', bundle);
    expect(drawn).toEqual(JSON.parse(stored.stdout));
    expect(drawn).toMatchObject({ class: 'clean_poweroff', confidence: 'certain' });
  });

  it('publishes the commit to the bare repository, without what was held back', async () => {
    const { publication } = shown.session;
    const git = async (...args: readonly string[]): Promise<string[]> => {
      const repository = publication.url.replace(/^file:\/\//, '');
      return (await runCommand('git', ['-C', repository, ...args])).stdout.trim().split('\n');
    };
    expect(publication).toMatchObject({ state: 'published', isVerified: true });
    expect(await git('rev-parse', `refs/heads/${publication.branch}`)).toEqual([publication.commit]);
    const written = entries
      .filter(({ verb, outcome }) => verb === 'write_file' && outcome === 'ok')
      .map(({ arguments: args }) => path.posix.relative('/mnt/project', String(args?.['path'])));
    const held = publication.held.map((file) => file.path);
    expect(held).toEqual(['check_fizzbuzz.sh']);
    const published = await git('ls-tree', '-r', '--name-only', publication.commit);
    expect(published.sort()).toEqual(written.filter((file) => !held.includes(file)).sort());
    expect(await git('rev-list', '--count', publication.commit)).toEqual(['1']);
  });

  it('leaves no machine and no overlay behind', async () => {
    expect(await platform.json('ls')).toEqual({ items: [] });
    expect(await platform.leftovers()).toEqual([]);
  });
});
