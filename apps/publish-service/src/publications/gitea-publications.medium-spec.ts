import {
  publishOps,
  ReleaseRequest,
  RetryRequest,
  SessionReport,
  type PublicationStepView,
  type PublicationView,
} from '@inquest/contracts-publish';
import { dto } from '@inquest/contracts-base';
import { eventually } from '@inquest/testing';
import { endPull } from '@inquest/git-forge-gitea/testing';
import { GiteaFixture, tagOf } from '../testing/gitea-fixture';
import { PublishHarness, type StagedGuest } from '../testing/publish-harness';

const REPORT = dto(SessionReport, {
  summary: 'I did it.\n```\n@all closes #1 <img src=x>',
  census: { verbs: [{ verb: 'run', count: 2, refused: 1, failed: 0, errors: 0 }], neverUsed: ['screenshot'] },
  verdict: { class: 'clean_poweroff', confidence: 'certain', account: 'The guest powered off.' },
});

describe('publications at a Gitea', () => {
  let harness: PublishHarness;
  let gitea: GiteaFixture;
  beforeAll(async () => {
    gitea = await GiteaFixture.start();
    harness = await PublishHarness.start({ isProcess: true });
  }, 120_000);
  afterAll(async () => {
    await harness.stop();
    await gitea.close();
  }, 60_000);
  beforeEach(() => use(gitea.env));

  const settings = (env: Readonly<Record<string, string>>) => ({ ...env, INQUEST_PUBLISH_RETRY_SECONDS: '1' });
  let used = '';
  /** The service with these settings: the one that runs, unless it has others. */
  async function use(env: Readonly<Record<string, string>>): Promise<void> {
    const wanted = settings(env);
    if (used !== JSON.stringify(wanted)) await harness.restart(wanted);
    used = JSON.stringify(wanted);
  }

  const show = ({ publicationId }: PublicationView) => harness.call(publishOps.show, { publicationId });
  const retry = ({ publicationId }: PublicationView, more: Partial<RetryRequest> = {}) =>
    harness.call(publishOps.retry, dto(RetryRequest, { publicationId, ...more }));
  const release = ({ publicationId }: PublicationView, more: Partial<ReleaseRequest> = {}) =>
    harness.call(publishOps.release, dto(ReleaseRequest, { publicationId, tag: 'v1', ...more }));
  const step = ({ steps }: PublicationView, kind: string): PublicationStepView | undefined =>
    steps.find((one) => one.kind === kind);
  const branchOf = ({ sessionId }: StagedGuest): string => `inquest/${sessionId}`;

  /** A session that changed a project which is on the forge already. */
  async function reviewed(files: Readonly<Record<string, string>> = { 'a.txt': '1' }): Promise<StagedGuest> {
    const first = await harness.stageWith({ 'README.md': 'hello\n' });
    await harness.commit(first);
    await gitea.seed(first.project, harness.repositoryPath(first.project));
    const guest = await harness.stageWith(files, first.project);
    await harness.commit(guest);
    return guest;
  }

  it('opens one pull request that tells reviewers what they need, and gives the repository its topics', async () => {
    const guest = await reviewed({ 'a.txt': '1', 'nohup.out': 'x' });
    const published = await harness.publish(guest, { report: REPORT, title: 'Add\na file' });
    const { project } = guest;
    expect(published).toMatchObject({
      state: 'published',
      forge: 'gitea',
      branch: branchOf(guest),
      baseBranch: 'main',
      isVerified: true,
      error: null,
      steps: [
        { kind: 'pull-request', state: 'done', url: `${gitea.double.url}/robot/${project}/pulls/1` },
        { kind: 'topics', state: 'done', message: 'topics: inquest' },
      ],
    });
    const { updates, pullRequests } = await gitea.seen(project, published.branch);
    expect([updates, pullRequests.length, pullRequests[0]?.title]).toEqual([1, 1, 'Add a file']);
    for (const told of [
      '\n    I did it.\n    ```\n    @all closes #1 <img src=x>\n',
      '\n    clean_poweroff (certain)\n    The guest powered off.\n',
      '\n    2 x run (1 refused)\n    never used: screenshot\n',
      '\n    nohup.out\n',
    ])
      expect(pullRequests[0]?.body).toContain(told);
    expect(gitea.repository(project).topics).toEqual(['inquest']);
    expect(await harness.publish(guest)).toEqual(published);
    expect(await show(published)).toEqual(published);
    expect(await gitea.seen(project, published.branch)).toMatchObject({ updates: 1, pullRequests });
  });

  it('opens a pull request for the first session of a new project, against an empty beginning', async () => {
    const guest = await harness.stageWith({ a: '1' });
    await harness.commit(guest);
    harness.write(guest, { b: '2' });
    await harness.commit(guest);
    const published = await harness.publish(guest);
    expect(published).toMatchObject({
      state: 'published',
      steps: [
        { kind: 'base-branch', state: 'done', message: expect.stringMatching(/^main did not exist and was made at /) },
        { kind: 'pull-request', state: 'done' },
        { kind: 'topics', state: 'done' },
      ],
    });
    const { project } = guest;
    const refs = gitea.git(project, 'for-each-ref', '--format=%(refname)', 'refs/heads');
    expect(refs.split('\n')).toEqual([`refs/heads/${published.branch}`, 'refs/heads/main']);
    expect(gitea.git(project, 'ls-tree', 'main')).toBe('');
    expect(gitea.git(project, 'merge-base', 'main', published.branch)).toBe(gitea.git(project, 'rev-parse', 'main'));
    expect(gitea.git(project, 'diff', '--name-only', `main...${published.branch}`).split('\n')).toEqual(['a', 'b']);
    const pushes = gitea.double.requests.filter((one) => one.includes(project) && /receive-pack$/.test(one));
    expect(pushes).toHaveLength(2);
    expect(await retry(published)).toEqual(published);
    expect(await gitea.seen(project, published.branch)).toMatchObject({ updates: 1, pullRequests: [{}] });
  });

  it('makes the branch to merge into where the session began, in a project with a history of its own', async () => {
    const first = await harness.stageWith({ 'README.md': 'hello\n' });
    const { commit: before } = await harness.commit(first);
    const guest = await harness.stageWith({ a: '1' }, first.project);
    await harness.commit(guest);
    expect(await harness.publish(guest)).toMatchObject({
      state: 'published',
      steps: [{ kind: 'base-branch' }, {}, {}],
    });
    expect(gitea.git(guest.project, 'rev-parse', 'main')).toBe(before);
    expect(gitea.git(guest.project, 'diff', '--name-only', `main...${branchOf(guest)}`)).toBe('a');
  });

  it('publishes without a pull request where the session made the very first commit, says why and what to do, and then opens it', async () => {
    await use({ ...gitea.env, INQUEST_BRANCH_POLICY: 'default' });
    const guest = await harness.stageWith({ a: '1' });
    await harness.commit(guest);
    await use(gitea.env);
    const published = await harness.publish(guest);
    expect(published).toMatchObject({ state: 'published', steps: [{ kind: 'pull-request', state: 'skipped' }, {}] });
    expect(step(published, 'pull-request')?.message).toMatch(
      /no branch main .* no commit from before this session: make main on the forge.*then retry/,
    );
    gitea.git(guest.project, 'update-ref', 'refs/heads/main', published.commit);
    const retried = await retry(published);
    expect(step(retried, 'pull-request')).toMatchObject({ state: 'done', url: expect.stringContaining('/pulls/1') });
    expect(retried).toMatchObject({ state: 'published', publishedAtMs: published.publishedAtMs });
    expect(await gitea.seen(guest.project, published.branch)).toMatchObject({ updates: 1, pullRequests: [{}] });
  });

  it.each(['merged', 'closed'] as const)(
    'opens no second pull request when it is killed after the first one was made, and a person has %s that',
    async (end) => {
      const guest = await reviewed();
      const { publicationId, branch } = await harness.publish(guest);
      await harness.database.query(
        `UPDATE "publish"."publication" SET "state" = 'pending', "steps" = '[]', "published_at" = NULL WHERE "publication_id" = $1`,
        [publicationId],
      );
      await harness.stopPublish();
      await endPull(gitea.repository(guest.project), 1, end);
      await harness.startPublish(settings(gitea.env));
      const finished = await eventually(async (): Promise<PublicationView | false> => {
        const view = await harness.call(publishOps.show, { publicationId });
        return view.state === 'published' && view;
      });
      expect(step(finished as PublicationView, 'pull-request')).toMatchObject({
        state: 'done',
        url: expect.stringContaining('/pulls/1'),
        message: `pull request 1 of ${branch} into main was ${end} by somebody already`,
      });
      const { pulls } = gitea.repository(guest.project);
      expect(pulls).toMatchObject([{ number: 1, state: 'closed', merged: end === 'merged' }]);
      expect(gitea.git(guest.project, 'for-each-ref', `refs/heads/${branch}`)).toBe('');
    },
  );

  it('keeps what is done when a step fails, does the others, and repeats only what is missing', async () => {
    const guest = await reviewed();
    gitea.double.faults.push({
      request: /^POST .*\/pulls$/,
      reply: { status: 403, body: { message: 'the user may not open pull requests' } },
    });
    const failed = await harness.publish(guest);
    expect(failed).toMatchObject({
      state: 'failed',
      isVerified: true,
      url: expect.stringContaining(guest.project),
      error: { code: 'FORGE_REQUEST_REFUSED', message: expect.stringContaining('may not open pull requests') },
      nextAttemptAtMs: null,
      steps: [
        { kind: 'pull-request', state: 'failed' },
        { kind: 'topics', state: 'done' },
      ],
    });
    const before = gitea.double.requests.length;
    expect(await retry(failed)).toMatchObject({ state: 'published', error: null, steps: [{ state: 'done' }, {}] });
    const asked = gitea.double.requests.slice(before);
    expect(asked.filter((one) => /\.git\/|\/topics$/.test(one))).toEqual([]);
    expect(await gitea.seen(guest.project, failed.branch)).toMatchObject({ updates: 1, pullRequests: [{}] });
  });

  it('tries again by itself what fails for a while, and says when', async () => {
    const guest = await reviewed();
    // Longer than anybody waits: the attempt ends at once.
    const reply = { status: 429, headers: { 'retry-after': '3600' } };
    gitea.double.faults.push({ request: new RegExp(`/repos/robot/${guest.project}$`), reply });
    const failed = await harness.publish(guest);
    expect(failed).toMatchObject({ state: 'failed', error: { code: 'FORGE_UNAVAILABLE' }, isVerified: false });
    expect(failed.nextAttemptAtMs).toBeGreaterThan(failed.createdAtMs);
    expect(await harness.told(failed.publicationId, 'published')).toEqual(
      expect.arrayContaining(['failed', 'published']),
    );
    expect(await show(failed)).toMatchObject({ attempts: 2, nextAttemptAtMs: null, error: null });
    expect(await gitea.seen(guest.project, failed.branch)).toMatchObject({ updates: 1, pullRequests: [{}] });
  });

  it('leaves a branch that somebody moved alone, names the way past it, and goes it when told to', async () => {
    await use({ ...gitea.env, INQUEST_BRANCH_POLICY: 'default' });
    const guest = await reviewed();
    const tree = gitea.git(guest.project, 'rev-parse', 'main^{tree}');
    const theirs = gitea.git(guest.project, 'commit-tree', '-p', 'main', '-m', 'theirs', tree);
    gitea.git(guest.project, 'update-ref', 'refs/heads/main', theirs);
    const failed = await harness.publish(guest);
    expect(failed).toMatchObject({
      state: 'failed',
      branch: 'main',
      url: null,
      error: { code: 'FORGE_BRANCH_MOVED', remediation: expect.stringContaining('--own-branch') },
    });
    expect(await retry(failed)).toMatchObject({ state: 'failed', branch: 'main' });
    const published = await retry(failed, { ownBranch: true });
    expect(published).toMatchObject({
      state: 'published',
      branch: branchOf(guest),
      commit: failed.commit,
      steps: [{ kind: 'pull-request', state: 'done' }, {}],
    });
    expect(gitea.git(guest.project, 'rev-parse', 'main')).toBe(theirs);
    expect(await gitea.seen(guest.project, branchOf(guest))).toMatchObject({ updates: 1, pullRequests: [{}] });
    expect(await retry(published, { ownBranch: true })).toEqual(published);
  });

  it('leaves a branch that was merged and deleted after it was read back deleted', async () => {
    const guest = await reviewed();
    gitea.double.faults.push({ request: /^GET .*\/topics$/, reply: { status: 403, body: { message: 'no' } } });
    const failed = await harness.publish(guest);
    expect(failed).toMatchObject({ state: 'failed', isVerified: true });
    gitea.git(guest.project, 'update-ref', '-d', `refs/heads/${failed.branch}`);
    expect(await retry(failed)).toMatchObject({ state: 'published' });
    expect(gitea.git(guest.project, 'for-each-ref', `refs/heads/${failed.branch}`)).toBe('');
  });

  it('follows a repository that was renamed, and not one that was given away', async () => {
    const renamed = await reviewed();
    const given = await reviewed();
    const { repositories } = gitea.double;
    repositories.rename(gitea.repository(renamed.project), { owner: 'robot', name: 'better-name' });
    repositories.rename(gitea.repository(given.project), { owner: 'mallory', name: given.project });
    expect(await harness.publish(renamed)).toMatchObject({
      state: 'published',
      url: `${gitea.double.url}/robot/better-name`,
    });
    expect(await harness.publish(given)).toMatchObject({
      state: 'failed',
      error: { code: 'FORGE_REPOSITORY_UNUSABLE', message: expect.stringContaining('moved to mallory') },
    });
    expect(gitea.double.requests.filter((one) => /mallory.*receive-pack/.test(one))).toEqual([]);
  });

  it('publishes nothing with a token that lacks a scope, names the scope, and publishes once a new token is there', async () => {
    const weak = await GiteaFixture.start(['read:user', 'write:repository']);
    try {
      await use(weak.env);
      const guest = await harness.stageWith({ a: '1' });
      await harness.commit(guest);
      const failed = await harness.publish(guest);
      expect(failed).toMatchObject({
        state: 'failed',
        error: {
          code: 'FORGE_SCOPE_MISSING',
          message: expect.stringContaining('the token lacks the scope write:user'),
          remediation: expect.stringContaining('token with that scope'),
        },
      });
      expect(weak.double.repositories.all()).toEqual([]);
      weak.allow(['write:user', 'write:repository']);
      expect(await retry(failed)).toMatchObject({ state: 'published', isVerified: true });
    } finally {
      await weak.close();
    }
  });

  describe('releases', () => {
    it('offers files of the commit under a tag that is made there, once', async () => {
      const guest = await reviewed({ 'dist/app.tar': 'a'.repeat(100_000), 'CHANGES.txt': '# new\n' });
      const published = await harness.publish(guest);
      const artifacts = ['dist/app.tar', 'CHANGES.txt'];
      const tag = tagOf(published.branch);
      const released = await release(published, { tag, title: 'One', notes: 'First.', artifacts });
      expect(released).toMatchObject({ state: 'published', release: { tag, title: 'One', artifacts } });
      expect(step(released, 'release')).toMatchObject({
        state: 'done',
        url: `${gitea.double.url}/robot/${guest.project}/releases/tag/${tag}`,
      });
      expect(await release(published, { tag })).toEqual(released);
      expect(await gitea.seen(guest.project, published.branch)).toEqual({
        updates: 1,
        pullRequests: [expect.anything()],
        releases: [{ tag, artifacts: ['app.tar 100000', 'CHANGES.txt 6'] }],
        drafts: 0,
      });
      expect(gitea.git(guest.project, 'rev-parse', `refs/tags/${tag}`)).toBe(published.commit);
      await expect(release(published, { tag: 'other' })).rejects.toMatchObject({ code: 'PUBLICATION_RELEASED' });
      expect(await harness.leftovers()).toEqual([]);
    });

    it('promises nothing that cannot be kept: no file that is not there, no two of one name, no tag that is none', async () => {
      const guest = await reviewed({ 'a.txt': '1', 'sub/a.txt': '2' });
      guest.machine.files.link('/mnt/project/link', '/etc/passwd');
      await harness.commit(guest);
      const published = await harness.publish(guest);
      for (const [more, code] of [
        [{ artifacts: ['nowhere'] }, 'RELEASE_ARTIFACT_UNKNOWN'],
        [{ artifacts: ['../../../etc/passwd'] }, 'RELEASE_ARTIFACT_UNKNOWN'],
        [{ artifacts: ['link'] }, 'RELEASE_ARTIFACT_UNKNOWN'],
        [{ artifacts: ['a.txt', 'sub/a.txt'] }, 'FORGE_REQUEST_INVALID'],
        [{ title: 'on two\nlines' }, 'FORGE_REQUEST_INVALID'],
        [{ tag: 'a..b' }, 'FORGE_BRANCH_INVALID'],
        [{ tag: '-f' }, 'INPUT_INVALID'],
      ] as const) {
        await expect(release(published, { ...more } as Partial<ReleaseRequest>)).rejects.toMatchObject({ code });
      }
      expect(await show(published)).toEqual(published);
      expect(gitea.repository(guest.project).releases).toEqual([]);
    });

    it('never moves a tag; the release can be made under another one', async () => {
      const guest = await reviewed();
      const published = await harness.publish(guest);
      gitea.git(guest.project, 'update-ref', 'refs/tags/v1', 'main');
      const failed = await release(published);
      expect(failed).toMatchObject({ state: 'failed', isVerified: true, error: { code: 'FORGE_TAG_TAKEN' } });
      expect(await release(published, { tag: 'v2' })).toMatchObject({ state: 'published', release: { tag: 'v2' } });
      expect(gitea.repository(guest.project).releases.map(({ tag_name }) => tag_name)).toEqual(['v2']);
    });

    it('waits for a forge when none is configured any more, and is published anew at another one', async () => {
      const guest = await reviewed();
      const published = await harness.publish(guest);
      await use({ INQUEST_FORGE: 'none' });
      const waiting = await release(published);
      expect(waiting).toMatchObject({ state: 'failed', isVerified: true, error: { code: 'FORGE_UNAVAILABLE' } });
      expect(waiting.nextAttemptAtMs).not.toBeNull();
      await use({ INQUEST_FORGE: 'bare' });
      expect(await retry(waiting)).toMatchObject({
        state: 'published',
        forge: 'bare',
        url: expect.stringMatching(/^file:/),
        steps: [
          { kind: 'base-branch', state: 'done' },
          {
            kind: 'pull-request',
            state: 'skipped',
            message: expect.stringMatching(/^bare has no pull requests: merge /),
          },
          { kind: 'release', state: 'skipped' },
        ],
      });
      expect(harness.forgeGit(guest.project, 'rev-parse', published.branch)).toBe(published.commit);
    });

    it('can be asked for where there is no forge for it, which is said', async () => {
      await use({ INQUEST_FORGE: 'bare' });
      const guest = await harness.stageWith({ a: '1' });
      await harness.commit(guest);
      const released = await release(await harness.publish(guest));
      expect(released).toMatchObject({ state: 'published' });
      expect(step(released, 'release')).toMatchObject({ state: 'skipped', message: 'bare has no releases' });
    });
  });

  it('goes on with what was pending when the service was stopped in the middle of it', async () => {
    const guest = await reviewed();
    let reached: () => void = () => undefined;
    const atPulls = new Promise<void>((resolve) => (reached = resolve));
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    gitea.double.onRequest = async (request) => {
      if (!/^POST .*\/pulls$/.test(request)) return;
      reached();
      await held;
    };
    const asked = harness.publish(guest).catch((e: unknown) => e);
    await atPulls;
    await harness.stopPublish();
    release();
    gitea.double.onRequest = () => undefined;
    await asked;
    await harness.startPublish(gitea.env);
    const [view] = (await harness.call(publishOps.list, { limit: 1, nextToken: null })).items;
    const finished = await eventually(async (): Promise<PublicationView | false> => {
      const now = await show(view as PublicationView);
      return now.state === 'published' && now;
    });
    expect(finished).toMatchObject({ sessionId: guest.sessionId, isVerified: true });
    expect(await gitea.seen(guest.project, branchOf(guest))).toMatchObject({ updates: 1, pullRequests: [{}] });
  });
});
