import { commitUnknown } from '@inquest/git-forge';
import { HardenedGit } from '@inquest/work-tree';

const RESULT_EXIT_CODES = [0, 1, 128];

/** The project's repository on this host, as what is published is read from it. */
export class SourceRepository {
  readonly git: HardenedGit;

  constructor(repositoryPath: string) {
    this.git = new HardenedGit(repositoryPath);
  }

  /** Throws `FORGE_COMMIT_UNKNOWN`. */
  async checkCommit(project: string, commit: string, signal: AbortSignal): Promise<void> {
    if (!(await this.succeeds(['cat-file', '-e', `${commit}^{commit}`], signal))) throw commitUnknown(project, commit);
  }

  /** False too when the project does not have `ancestor` at all: then the branch has commits of somebody else. */
  standsOn(commit: string, ancestor: string, signal: AbortSignal): Promise<boolean> {
    return this.succeeds(['merge-base', '--is-ancestor', ancestor, commit], signal);
  }

  private async succeeds(args: readonly string[], signal: AbortSignal): Promise<boolean> {
    return (await this.git.run(args, { signal, acceptExitCodes: RESULT_EXIT_CODES })).exitCode === 0;
  }
}
