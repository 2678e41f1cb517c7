import { PublicationView } from '@inquest/contracts-publish';
import { dto } from '@inquest/contracts-base';
import { describePublication } from './publish.commands';

const COMMIT = 'c'.repeat(40);
const publication = (more: Partial<PublicationView> = {}): PublicationView =>
  dto(PublicationView, {
    publicationId: 'pub-1',
    sessionId: 'ses-1',
    project: 'demo',
    state: 'published',
    forge: 'gitea',
    branch: 'inquest/ses-1',
    baseBranch: 'main',
    commit: COMMIT,
    url: 'https://git.example.org/robot/demo',
    isVerified: true,
    message: 'published to gitea and read back',
    error: null,
    attempts: 1,
    heldCount: 0,
    held: [],
    createdAtMs: 0,
    publishedAtMs: 0,
    ...more,
  });

const failure = {
  code: 'FORGE_SCOPE_MISSING',
  fault: 'infra' as const,
  status: 502,
  message: 'the token lacks the scope write:issue',
  remediation: 'Make a token with that scope.',
  details: {},
};

describe('describePublication', () => {
  it('says where it is, what was made of it there and what was held back', () => {
    const steps = [
      {
        kind: 'pull-request',
        state: 'done',
        url: 'https://git.example.org/robot/demo/pulls/3',
        message: '',
        error: null,
      },
      { kind: 'release', state: 'skipped', url: null, message: 'bare has no releases', error: null },
    ] as const;
    const held = [{ path: 'a\nb', rule: 'noise/log', why: 'It is\u202e a log.' }];
    expect(describePublication(publication({ steps: [...steps], heldCount: 1, held }))).toBe(
      `pub-1  published  demo  inquest/ses-1  ${COMMIT}
  https://git.example.org/robot/demo (read back and verified)
  pull-request: done  https://git.example.org/robot/demo/pulls/3
  release: skipped  bare has no releases
  held back (1):
    a b: It is a log.`,
    );
  });

  it('names the code of a failure, what to do and the command that comes after it', () => {
    const { message } = failure;
    const failed = publication({ state: 'failed', url: null, isVerified: false, message, error: failure });
    expect(describePublication(failed)).toBe(
      `pub-1  failed  demo  inquest/ses-1  ${COMMIT}
  the token lacks the scope write:issue
  [FORGE_SCOPE_MISSING] Make a token with that scope.
  then: vmctl publish retry pub-1`,
    );
  });

  it('says when it is tried again by itself', () => {
    const failed = publication({ state: 'failed', error: failure, nextAttemptAtMs: Date.UTC(2026, 0, 2, 3, 4, 5) });
    expect(describePublication(failed)).toContain(
      'tried again at 2026-01-02T03:04:05.000Z by itself, or now: vmctl publish retry pub-1',
    );
  });
});
