import { createHash } from 'node:crypto';
import {
  ListPublicationsRequest,
  publishOps,
  ReleaseRequest,
  type PublicationList,
  type PublicationView,
} from '@inquest/contracts-publish';
import { dto } from '@inquest/contracts-base';
import { eventually } from '@inquest/testing';
import { PublishHarness, type StagedGuest } from '../testing/publish-harness';

const TOKEN = 'admin-token-of-this-test';

describe('publications', () => {
  let harness: PublishHarness;
  beforeAll(async () => {
    harness = await PublishHarness.start();
  }, 120_000);
  afterAll(() => harness.stop(), 60_000);

  async function committed(
    files: Record<string, string> = { a: '1' },
    project?: string,
  ): Promise<StagedGuest & { commit: string }> {
    const guest = await harness.stageWith(files, project);
    const { commit } = await harness.commit(guest);
    if (commit === null) throw new Error('nothing was committed');
    return { ...guest, commit };
  }

  const show = ({ publicationId }: PublicationView) => harness.call(publishOps.show, { publicationId });
  const retry = ({ publicationId }: PublicationView) =>
    harness.call(publishOps.retry, { publicationId, ownBranch: false });
  const onForge = ({ project }: StagedGuest): string => harness.forgeGit(project, 'rev-parse', 'refs/heads/main');

  /** A commit on the forge that is not the project's. */
  function somebodyPushed({ project }: StagedGuest): string {
    const tree = harness.forgeGit(project, 'mktree', '--missing');
    const commit = harness.forgeGit(project, 'commit-tree', '-m', 'theirs', tree);
    harness.forgeGit(project, 'update-ref', 'refs/heads/main', commit);
    return commit;
  }

  it('publishes the newest commit of a session, reads it back, and tells it once', async () => {
    const guest = await committed({ a: '1', 'nohup.out': 'x' });
    const published = await harness.publish(guest);
    expect(published).toMatchObject({
      state: 'published',
      forge: 'bare',
      branch: 'main',
      commit: guest.commit,
      isVerified: true,
      error: null,
      attempts: 1,
      heldCount: 1,
      held: [{ path: 'nohup.out' }],
    });
    expect(published.url).toMatch(new RegExp(`^file:///.*/forge/${guest.project}\\.git$`));
    expect(onForge(guest)).toBe(guest.commit);
    expect(await harness.told(published.publicationId, 'published')).toEqual(['published']);
    expect(await show(published)).toEqual(published);
  });

  it('publishes the same commit once, however often and at once it is asked', async () => {
    const guest = await committed();
    const all = await Promise.all([1, 2, 3].map(() => harness.publish(guest)));
    const first = all[0] as PublicationView;
    expect(all).toEqual([first, first, first]);
    expect(first.attempts).toBe(1);
    expect(await retry(first)).toEqual(first);
    harness.write(guest, { b: '2' });
    const { commit } = await harness.commit(guest);
    expect(await harness.publish(guest)).toMatchObject({ commit, state: 'published' });
    expect(onForge(guest)).toBe(commit);
  });

  it('has nothing to publish of a session that made no commit', async () => {
    const guest = await harness.stage();
    await expect(harness.publish(guest)).rejects.toMatchObject({ code: 'PUBLISH_NOTHING_COMMITTED' });
    const { sessionId } = await committed();
    await expect(harness.publish({ ...guest, sessionId })).rejects.toMatchObject({ code: 'PUBLISH_NOTHING_COMMITTED' });
  });

  it('fails on a branch that somebody else moved, leaves it alone, and can be retried', async () => {
    const guest = await committed();
    await harness.publish(guest);
    const theirs = somebodyPushed(guest);
    harness.write(guest, { b: '2' });
    const { commit } = await harness.commit(guest);
    const failed = await harness.publish(guest);
    expect(failed).toMatchObject({
      state: 'failed',
      url: null,
      isVerified: false,
      error: { code: 'FORGE_BRANCH_MOVED' },
      attempts: 1,
    });
    expect(failed.message).not.toBe('');
    expect(onForge(guest)).toBe(theirs);
    expect(await retry(failed)).toMatchObject({ state: 'failed', attempts: 2 });
    harness.forgeGit(guest.project, 'update-ref', 'refs/heads/main', guest.commit);
    const published = await retry(failed);
    expect(published).toMatchObject({
      publicationId: failed.publicationId,
      state: 'published',
      error: null,
      attempts: 3,
      commit,
    });
    expect(onForge(guest)).toBe(commit);
    expect(await harness.told(failed.publicationId, 'published')).toEqual(['failed', 'failed', 'published']);
  });

  it('finds a commit published that another session went on from and published first', async () => {
    const first = await committed({ a: '1' });
    const second = await committed({ b: '1' }, first.project);
    await harness.publish(second);
    const published = await harness.publish(first);
    expect(published).toMatchObject({ state: 'published', isVerified: true, commit: first.commit });
    expect(published.message).toContain(second.commit.slice(0, 12));
    expect(onForge(first)).toBe(second.commit);
  });

  it.each([
    ['between the push and the row', true],
    ['before the push', false],
  ])('finishes, and publishes once, when it is killed %s', async (_, isPushed) => {
    const guest = await committed();
    const { publicationId } = await harness.publish(guest);
    await harness.database.query(
      `UPDATE "publish"."publication" SET "state" = 'pending', "attempts" = 0, "is_verified" = false, "url" = NULL, "published_at" = NULL
       WHERE "publication_id" = $1`,
      [publicationId],
    );
    await harness.stopPublish();
    if (!isPushed) harness.forgeGit(guest.project, 'update-ref', '-d', 'refs/heads/main');
    await harness.startPublish();
    const finished = await eventually(async () => {
      const view = await harness.call(publishOps.show, { publicationId });
      return view.state === 'published' ? view : false;
    });
    expect(finished).toMatchObject({ isVerified: true, attempts: 1, commit: guest.commit });
    expect(onForge(guest)).toBe(guest.commit);
    expect(harness.forgeGit(guest.project, 'rev-list', '--count', '--all')).toBe('1');
    expect(await harness.publish(guest)).toEqual(finished);
  });

  it('lists them newest first, page by page, without a gap or a double', async () => {
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.push((await harness.publish(await committed())).publicationId);
    const listed: string[] = [];
    let nextToken: string | null = null;
    do {
      const page: PublicationList = await harness.call(
        publishOps.list,
        dto(ListPublicationsRequest, { limit: 2, nextToken }),
      );
      expect(page.items.length).toBeLessThanOrEqual(2);
      listed.push(...page.items.map(({ publicationId }) => publicationId));
      nextToken = page.nextToken;
    } while (nextToken !== null && listed.length < 100);
    expect(listed.slice(0, 5)).toEqual(made.reverse());
    expect(new Set(listed).size).toBe(listed.length);
  });

  it('lists those of a project, of a session or in a state, also page by page', async () => {
    const first = await committed();
    const failed = await harness.publish(first);
    const theirs = somebodyPushed(first);
    harness.write(first, { b: '2' });
    await harness.commit(first);
    const moved = await harness.publish(first);
    expect([failed.state, moved.state]).toEqual(['published', 'failed']);
    const second = await committed({ c: '1' }, first.project);
    const other = await harness.publish(second);
    const list = async (wanted: Partial<ListPublicationsRequest>): Promise<string[]> => {
      const { items } = await harness.call(publishOps.list, dto(ListPublicationsRequest, wanted));
      return items.map(({ publicationId }) => publicationId);
    };
    const { project } = first;
    const [one, two, three] = [failed, moved, other].map(({ publicationId }) => publicationId);
    expect(await list({ project })).toEqual([three, two, one]);
    expect(await list({ sessionId: first.sessionId })).toEqual([two, one]);
    expect(await list({ project, state: 'published' })).toEqual([one]);
    const page = await harness.call(publishOps.list, dto(ListPublicationsRequest, { project, limit: 1 }));
    expect(await list({ project, nextToken: page.nextToken })).toEqual([two, one]);
    expect(await list({ project: 'prj-none' })).toEqual([]);
    expect(onForge(first)).toBe(theirs);
  });

  it('lists what fits into a message, and the rest on the pages that follow', async () => {
    const [before] = await harness.database.query<{ count: number }[]>(
      'SELECT count(*)::int AS "count" FROM "publish"."publication"',
    );
    await harness.database.query(`UPDATE "publish"."publication" SET "message" = repeat('m', 8000)`);
    await harness.database.query(
      `INSERT INTO "publish"."publication" SELECT 'pub-large-' || i, 'ses-large', 'prj', 'failed', 'bare', 'main', lpad(i::text, 40, '0'), NULL,
       false, repeat('m', 8000), NULL, 1, 0, '[]', now(), NULL FROM generate_series(1, 150) i`,
    );
    const seen = new Set<string>();
    let pages = 0;
    let nextToken: string | null = null;
    do {
      const page: PublicationList = await harness.call(
        publishOps.list,
        dto(ListPublicationsRequest, { limit: 200, nextToken }),
      );
      for (const { publicationId } of page.items) seen.add(publicationId);
      nextToken = page.nextToken;
      pages++;
    } while (nextToken !== null);
    expect(seen.size).toBe((before?.count ?? 0) + 150);
    expect(pages).toBeGreaterThan(1);
  });

  it('refuses what it does not know', async () => {
    const publicationId = 'pub-none';
    const asked = [
      harness.call(publishOps.show, { publicationId }),
      harness.call(publishOps.retry, { publicationId, ownBranch: true }),
      harness.call(publishOps.release, dto(ReleaseRequest, { publicationId, tag: 'v1' })),
    ];
    for (const outcome of await Promise.allSettled(asked)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'PUBLICATION_UNKNOWN' } });
    }
    await expect(
      harness.call(publishOps.list, dto(ListPublicationsRequest, { nextToken: 'forged' })),
    ).rejects.toMatchObject({
      code: 'CURSOR_INVALID',
    });
    await expect(harness.call(publishOps.list, dto(ListPublicationsRequest, { limit: 1000 }))).rejects.toMatchObject({
      code: 'INPUT_INVALID',
    });
  });

  it('publishes nothing without a forge, says so, keeps the work, and publishes it once there is one', async () => {
    await harness.restart({ INQUEST_FORGE: 'none' });
    const guest = await committed();
    const skipped = await harness.publish(guest);
    expect(skipped).toMatchObject({
      state: 'skipped',
      forge: 'none',
      url: null,
      isVerified: false,
      message: 'nothing was published: no forge is configured. The commits are kept in the project on the host.',
    });
    expect(await harness.call(publishOps.checkForge, {})).toMatchObject({ forge: 'none', isUsable: false });
    expect(harness.git(guest.project, 'rev-parse', 'HEAD')).toBe(guest.commit);
    await harness.restart();
    expect(await harness.call(publishOps.checkForge, {})).toMatchObject({ forge: 'bare', isUsable: true });
    expect(await retry(skipped)).toMatchObject({ state: 'published', forge: 'bare', isVerified: true });
    expect(onForge(guest)).toBe(guest.commit);
  });

  it('answers an administrator over REST, and nobody without a token', async () => {
    await harness.restart({ INQUEST_TOKEN_SHA256: createHash('sha256').update(TOKEN).digest('hex') });
    const guest = await committed();
    const published = await harness.publish(guest);
    const get = (at: string, token: string) =>
      fetch(`${harness.url}/v1/${at}`, { headers: { authorization: `Bearer ${token}` } });
    expect((await get('publications', 'wrong')).status).toBe(401);
    const shown = await get(`publications/${published.publicationId}`, TOKEN);
    expect(await shown.json()).toEqual(published);
    const post = (at: string, body: object) =>
      fetch(`${harness.url}/v1/publications/${published.publicationId}/${at}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    expect(await (await post('retry', {})).json()).toEqual(published);
    expect((await post('retry', { ownBranch: 'yes' })).status).toBe(400);
    expect((await post('release', { tag: 'v1', artifacts: ['nowhere'] })).status).toBe(422);
    expect(await (await post('release', { tag: 'v1' })).json()).toMatchObject({
      state: 'published',
      steps: [{ kind: 'release', state: 'skipped', message: 'bare has no releases' }],
    });
    expect(await (await get(`projects/${guest.project}`, TOKEN)).json()).toMatchObject({ head: guest.commit });
    const unknown = await get('publications/pub-none', TOKEN);
    expect({ status: unknown.status, body: await unknown.json() }).toMatchObject({
      status: 404,
      body: { code: 'PUBLICATION_UNKNOWN' },
    });
  });
});
