import { describeGitForge, describeHostedForge } from '@inquest/git-forge/testing';
import { startGiteaFixture } from './testing/gitea-fixture';
import { realGitea, startRealGitea } from './testing/real-gitea';

jest.setTimeout(120_000);

describeGitForge('GiteaForge at a user of the double', () => startGiteaFixture());

describeGitForge('GiteaForge at an organization below a sub-path, which shows late what it took', () =>
  startGiteaFixture({
    double: {
      subPath: '/tools/git',
      behaviour: { staleBranchReads: 2, hiddenRepositoryReads: 2, missingBranchStatus: 500 },
    },
    forge: { owner: 'studio' },
  }),
);

describeHostedForge('GiteaForge at the double', () =>
  startGiteaFixture({ double: { behaviour: { pageLength: 1, hasTotalCount: false, ignoredTopicWrites: 2 } } }),
);

const real = realGitea(process.env);
if (real !== null) {
  describeGitForge('GiteaForge at a real Gitea', () => startRealGitea(real.url, real.token));
  describeHostedForge('GiteaForge at a real Gitea', () => startRealGitea(real.url, real.token));
}
