import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { delay, newId, withDeadline } from '@inquest/kernel';
import { updatesOf } from './testing/double-repositories';
import { startGiteaFixture, type GiteaFixture } from './testing/gitea-fixture';

/** More take longer and find more. */
const KILLS = Number(process.env['INQUEST_TEST_KILLS'] ?? 24);
/** So that a kill also falls between requests: into git, into a wait, into what a request does. */
const MAX_DELAY_MS = 40;
const RUN_DEADLINE_MS = 120_000;

jest.setTimeout(900_000);

describe('a publisher that is killed with SIGKILL', () => {
  let made: GiteaFixture;
  const children: ChildProcess[] = [];
  beforeEach(async () => {
    made = await startGiteaFixture({ double: { behaviour: { staleBranchReads: 1 } } });
  });
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    await made.close();
  });

  /** A publisher of its own; `exited` settles with its exit code and the signal that ended it. */
  async function startPublisher(project: string): Promise<{ child: ChildProcess; exited: Promise<unknown[]> }> {
    const artifact = await made.artifact('work.tar', 'w'.repeat(300_000));
    const { repositoryPath, tokenFile, double, commits } = made;
    const child = fork(
      path.join(__dirname, 'testing', 'publish-once.ts'),
      [double.url, tokenFile, repositoryPath, project, commits.first, commits.second, artifact.filePath, '300000'],
      {
        execArgv: ['--conditions=@inquest/source', '--require', path.join(__dirname, 'testing/typescript-sources.cjs')],
      },
    );
    children.push(child);
    return { child, exited: withDeadline(once(child, 'exit'), RUN_DEADLINE_MS, 'the end of a publisher') };
  }

  /** Lets a publisher come to its end and gives how many requests that took. */
  async function runPublisher(project: string): Promise<number> {
    const before = made.double.requests.length;
    const { exited } = await startPublisher(project);
    expect(await exited).toEqual([0, null]);
    return made.double.requests.length - before;
  }

  /** Kills a publisher a little after its request number `last` arrived. False: it had come to its end before. */
  async function killPublisher(project: string, last: number, afterMs: number): Promise<boolean> {
    const { child, exited } = await startPublisher(project);
    let count = 0;
    made.double.onRequest = () => {
      if (++count === last) void delay(afterMs).then(() => child.kill('SIGKILL'));
    };
    const [, signal] = await exited;
    made.double.onRequest = () => undefined;
    return signal === 'SIGKILL';
  }

  async function stateOf(project: string): Promise<object> {
    const repository = made.double.repositories.get('robot', project);
    if (repository === null) throw new Error(`${project} was not published`);
    return {
      heads: [await made.headOf(project, 'main'), await made.headOf(project, 'inquest/s-1')],
      updates: [await updatesOf(repository, 'main'), await updatesOf(repository, 'inquest/s-1')],
      pullRequests: await made.openPullRequests(project),
      releases: await made.releases(project),
      drafts: repository.releases.filter(({ draft }) => draft === true).length,
    };
  }

  it(`has published exactly once when it is started again, at ${KILLS} moments over its whole run`, async () => {
    const published = {
      heads: [made.commits.first, made.commits.second],
      updates: [1, 1],
      pullRequests: [{ title: 'Work', body: 'Done. (publication-1)' }],
      releases: [{ tag: 'v1', artifacts: ['work.tar 300000'] }],
      drafts: 0,
    };
    const undisturbed = newId('project');
    const requests = await runPublisher(undisturbed);
    expect(await stateOf(undisturbed)).toEqual(published);
    let killedCount = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const project = newId('project');
      const last = 1 + Math.floor(((kill + Math.random()) / KILLS) * (requests - 1));
      if (await killPublisher(project, last, Math.random() * MAX_DELAY_MS)) killedCount++;
      await runPublisher(project);
      expect({ last, ...(await stateOf(project)) }).toEqual({ last, ...published });
    }
    expect(made.double.repositories.all()).toHaveLength(KILLS + 1);
    expect(killedCount).toBeGreaterThanOrEqual(Math.floor(KILLS * 0.8));
  });
});
