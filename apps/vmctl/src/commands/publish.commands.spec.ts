import { COMMIT, samplePublication as publication } from '../testing/sample-publication';
import { describePublication } from './publish.commands';

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
        message: 'pull request 3 asks to merge inquest/ses-1 into main',
        error: null,
      },
      { kind: 'release', state: 'skipped', url: null, message: 'bare has no releases', error: null },
    ] as const;
    const held = [{ path: 'a\nb', rule: 'noise/log', why: 'It is\u202e a log.' }];
    expect(describePublication(publication({ steps: [...steps], heldCount: 3, held }))).toBe(
      `pub-1  published  demo  inquest/ses-1  ${COMMIT}
  https://git.example.org/robot/demo (read back and verified)
  pull-request: done  pull request 3 asks to merge inquest/ses-1 into main  https://git.example.org/robot/demo/pulls/3
  release: skipped  bare has no releases
  held back (3):
    a b: It is a log.
    and 2 more`,
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

  it('says what makes a publication possible that had no forge', () => {
    const message = 'nothing was published: no forge is configured.';
    const skipped = publication({ state: 'skipped', url: null, isVerified: false, forge: 'none', message });
    expect(describePublication(skipped)).toBe(
      `pub-1  skipped  demo  inquest/ses-1  ${COMMIT}
  nothing was published: no forge is configured.
  once publish-service has a forge (INQUEST_FORGE): vmctl publish retry pub-1`,
    );
  });

  it('says that the scratch rules of the project were left out, why, and what to do', () => {
    const rulesProblem = {
      ...failure,
      code: 'SCRATCH_RULES_TOO_LARGE',
      message: '.inquest/scratch.yaml has 70000 bytes',
    };
    expect(describePublication(publication({ rulesProblem }))).toContain(
      `
  the project's own scratch rules were left out: .inquest/scratch.yaml has 70000 bytes
  [SCRATCH_RULES_TOO_LARGE] Make a token with that scope.`,
    );
  });

  it('says when it is tried again by itself', () => {
    const failed = publication({ state: 'failed', error: failure, nextAttemptAtMs: Date.UTC(2026, 0, 2, 3, 4, 5) });
    expect(describePublication(failed)).toContain(
      'tried again at 2026-01-02T03:04:05.000Z by itself, or now: vmctl publish retry pub-1',
    );
  });
});
