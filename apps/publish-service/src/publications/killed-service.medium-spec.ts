import { publishOps, ReleaseRequest, type PublicationView } from '@inquest/contracts-publish';
import { delay } from '@inquest/kernel';
import { eventually } from '@inquest/testing';
import { dto } from '@inquest/contracts-base';
import { GiteaFixture, tagOf } from '../testing/gitea-fixture';
import { PublishHarness, type StagedGuest } from '../testing/publish-harness';
import type { PublishProcess } from '../testing/publish-process';

/** Of the process, each at a random moment. More take longer and find more. */
const KILLS = Number(process.env['INQUEST_TEST_KILLS'] ?? 4);
/** Publications that are asked for around each kill, a few requests apart, so that it meets them at different points. */
const AT_ONCE = 5;
/** So that a kill also falls between requests: into git, into the database, into what a request does. */
const MAX_DELAY_MS = 40;
const REQUESTS_BETWEEN = 5;
/** Of the calls of one round, and of what the service finishes by itself. */
const ROUND_TIMEOUT_MS = 300_000;
const ARTIFACT = 'out.bin';
const ARTIFACT_BYTES = 150_000;

jest.setTimeout(1_800_000);

/** Publications that were asked for in the course of one round. */
interface UnderWay {
  /** To be told of each request to the forge. */
  readonly onRequest: (count: number) => void;
  /** Asked for and not answered yet. */
  readonly count: () => number;
  /** Resolves when all were asked for and answered, however. */
  readonly ended: () => Promise<void>;
}

describe('publish-service, killed with SIGKILL', () => {
  let harness: PublishHarness;
  let gitea: GiteaFixture;
  let service: PublishProcess;
  beforeAll(async () => {
    gitea = await GiteaFixture.start();
    gitea.double.behaviour.staleBranchReads = 1;
    harness = await PublishHarness.start({ isProcess: true });
    service = await harness.spawn(gitea.env);
  }, 240_000);
  afterAll(async () => {
    await harness.stop();
    await gitea.close();
  }, 60_000);

  /** Sessions with work to publish: all but the last on one project that the forge has, the last on a new one. */
  async function prepare(): Promise<readonly StagedGuest[]> {
    const first = await harness.stageWith({ 'README.md': 'hello\n' });
    await harness.commit(first);
    await gitea.seed(first.project, harness.repositoryPath(first.project));
    const projects = Array.from({ length: AT_ONCE }, (_, n) => (n < AT_ONCE - 1 ? first.project : undefined));
    return Promise.all(
      projects.map(async (project, n) => {
        const guest = await harness.stage(project);
        harness.write(guest, { [`${guest.sessionId}/${ARTIFACT}`]: Buffer.alloc(ARTIFACT_BYTES, `${n}`) });
        await harness.commit(guest);
        return guest;
      }),
    );
  }

  /** What whoever closes a session does: asks for its publication, and then for a release of it. */
  async function publishAndRelease(guest: StagedGuest, signal: AbortSignal): Promise<PublicationView> {
    const { publicationId, branch } = await harness.publish(guest, {}, signal);
    const release = { publicationId, tag: tagOf(branch), artifacts: [`${guest.sessionId}/${ARTIFACT}`] };
    return harness.call(publishOps.release, dto(ReleaseRequest, release), signal);
  }

  /** Asks for all of them, the next one a few requests after the one before, so that they are at different points. */
  function publishAll(guests: readonly StagedGuest[], signal: AbortSignal): UnderWay {
    const waiting = [...guests];
    const asked: Promise<unknown>[] = [];
    let published = 0;
    const askNext = (): void => {
      const guest = waiting.shift();
      if (guest !== undefined) asked.push(publishAndRelease(guest, signal).then(() => published++));
    };
    askNext();
    return {
      onRequest: (count) => {
        if (count % REQUESTS_BETWEEN === 0) askNext();
      },
      count: () => asked.length - published,
      ended: async () => {
        while (waiting.length > 0) {
          await Promise.allSettled(asked);
          askNext();
        }
        await Promise.allSettled(asked);
      },
    };
  }

  /**
   * Kills the service a little after request number `last`, or after everything when there are fewer, and gives how many
   * publications were under way.
   */
  async function killAmid(guests: readonly StagedGuest[], last: number): Promise<number> {
    const asking = new AbortController();
    const underWay = publishAll(guests, asking.signal);
    const reached = new Promise<void>((resolve) => {
      let count = 0;
      gitea.double.onRequest = () => {
        underWay.onRequest(++count);
        if (count === last) resolve();
      };
    });
    await Promise.race([reached.then(() => delay(Math.random() * MAX_DELAY_MS)), underWay.ended()]);
    const found = underWay.count();
    await service.kill();
    asking.abort();
    gitea.double.onRequest = () => undefined;
    return found;
  }

  const isBegun = async (): Promise<boolean> => {
    const { items } = await harness.call(publishOps.list, { limit: 200, nextToken: null });
    return items.some(({ state }) => state === 'pending');
  };

  /** The one branch, pull request and release of a session, and nothing else. */
  async function expectPublishedOnce(guest: StagedGuest, view: PublicationView): Promise<void> {
    expect(view).toMatchObject({ state: 'published', isVerified: true, error: null });
    expect(gitea.git(guest.project, 'rev-parse', view.branch)).toBe(view.commit);
    expect(await gitea.seen(guest.project, view.branch)).toEqual({
      updates: 1,
      pullRequests: [expect.anything()],
      releases: [{ tag: tagOf(view.branch), artifacts: [`${ARTIFACT} ${ARTIFACT_BYTES}`] }],
      drafts: 0,
    });
  }

  /** After whoever asked for them has asked again. */
  async function expectAllPublishedOnce(guests: readonly StagedGuest[]): Promise<void> {
    const signal = AbortSignal.timeout(ROUND_TIMEOUT_MS);
    const views = await Promise.all(guests.map((guest) => publishAndRelease(guest, signal)));
    for (const [n, guest] of guests.entries()) await expectPublishedOnce(guest, views[n] as PublicationView);
  }

  it(`has published exactly once when it is started again, after each of ${KILLS} kills amid ${AT_ONCE} publications; INQUEST_TEST_KILLS=50 for the long run`, async () => {
    const undisturbed = await prepare();
    const before = gitea.double.requests.length;
    await expectAllPublishedOnce(undisturbed);
    const requests = gitea.double.requests.length - before;
    let underWay = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const guests = await prepare();
      const last = 1 + Math.floor(((kill + Math.random()) / KILLS) * (requests - 1));
      underWay += await killAmid(guests, last);
      service = await harness.spawn(gitea.env);
      // First what it finishes by itself, then what its callers ask for again.
      await eventually(async () => !(await isBegun()), { timeoutMs: ROUND_TIMEOUT_MS });
      await expectAllPublishedOnce(guests);
    }
    expect(underWay).toBeGreaterThanOrEqual(KILLS);
  });
});
