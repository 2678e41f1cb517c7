import { readFile } from 'node:fs/promises';
import { inspect } from 'node:util';
import { publishOps } from '@inquest/contracts-publish';
import { seeProcesses, TOKEN, tokenFormsIn, type SeenProcess } from '@inquest/git-forge-gitea/testing';
import { GiteaFixture } from '../testing/gitea-fixture';
import { PublishHarness, type StagedGuest } from '../testing/publish-harness';

describe('the token of the forge, in publish-service', () => {
  let harness: PublishHarness;
  let gitea: GiteaFixture;
  beforeAll(async () => {
    gitea = await GiteaFixture.start();
    harness = await PublishHarness.start({ isProcess: true });
    await harness.spawn({ ...gitea.env, INQUEST_LOG_LEVEL: 'debug' });
  }, 240_000);
  afterAll(async () => {
    await harness.stop();
    await gitea.close();
  }, 60_000);

  async function committed(): Promise<StagedGuest> {
    const first = await harness.stageWith({ 'README.md': 'hello\n' });
    await harness.commit(first);
    await gitea.seed(first.project, harness.repositoryPath(first.project));
    const guest = await harness.stageWith({ a: '1' }, first.project);
    await harness.commit(guest);
    return guest;
  }

  it('is in no argument and no environment of any process, no row, no log line and no error', async () => {
    const seen: SeenProcess[] = [];
    // The service, git and whatever it has started wait meanwhile for the answer of the server.
    gitea.double.onRequest = async () => void seen.push(...(await seeProcesses()));
    const published = await harness.publish(await committed());
    gitea.double.onRequest = () => undefined;
    const failed = [];
    // What the forge says back, and what git says of it, end up in messages.
    for (const [request, status] of [
      [/git-receive-pack/, 403],
      [/info\/refs/, 401],
      [/^POST .*\/pulls$/, 403],
      [/^GET .*\/topics$/, 422],
      [/^GET .*\/branches\//, 200],
    ] as const) {
      const headers = { 'www-authenticate': `Basic realm="${TOKEN}"` };
      const reply = {
        status,
        headers,
        body: { message: `not with ${TOKEN}, ${Buffer.from(`inquest:${TOKEN}`).toString('base64')}` },
      };
      const guest = await committed();
      gitea.double.faults.push({ request, times: 99, reply });
      failed.push(await harness.publish(guest));
      gitea.double.faults.length = 0;
    }
    const shown = await Promise.all(
      [published, ...failed].map(({ publicationId }) => harness.call(publishOps.show, { publicationId })),
    );

    expect(published).toMatchObject({ state: 'published', steps: [{ state: 'done' }, { state: 'done' }] });
    expect(failed.map(({ state }) => state)).toEqual(failed.map(() => 'failed'));
    expect(seen.filter(({ tokenForms }) => tokenForms.length > 0)).toEqual([]);
    for (const program of ['remote-http', 'publish-service/dist/main.js']) {
      expect(seen).toContainEqual({ command: expect.stringContaining(program), tokenForms: [] });
    }
    expect(tokenFormsIn(await readFile(gitea.tokenFile, 'latin1'))).toEqual([TOKEN]);
    const rows = await harness.rows();
    expect(rows).toContain(published.publicationId);
    expect(tokenFormsIn(rows)).toEqual([]);
    const log = await harness.log();
    expect(log).toContain('listening at');
    expect(tokenFormsIn(log)).toEqual([]);
    expect(tokenFormsIn(inspect(shown, { depth: 20 }))).toEqual([]);
  }, 240_000);
});
