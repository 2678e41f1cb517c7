import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { GiteaDouble, makeTokenFile, TOKEN, updatesOf, type DoubleRepository } from '@inquest/git-forge-gitea/testing';
import { tempDir } from '@inquest/testing';

/** What somebody who looks at the forge sees of a session's work. */
export interface OnForge {
  /** How often the branch was made or moved; 0: it is not there. */
  readonly updates: number;
  readonly pullRequests: readonly { readonly title: string; readonly body: string }[];
  /** Each with its artifacts and their sizes. */
  readonly releases: readonly { readonly tag: string; readonly artifacts: readonly string[] }[];
  readonly drafts: number;
}

/** A Gitea double with a token for it, and what publish-service must be told to use both. */
export class GiteaFixture {
  private constructor(
    readonly double: GiteaDouble,
    readonly tokenFile: string,
    private readonly token: { scopes: readonly string[] },
    readonly close: () => Promise<void>,
  ) {}

  static async start(scopes: readonly string[] = ['write:user', 'write:repository']): Promise<GiteaFixture> {
    const directory = await tempDir('publish-gitea');
    const tokenFile = await makeTokenFile(directory.path, TOKEN);
    const token = { user: 'robot', scopes };
    const root = path.join(directory.path, 'gitea');
    const double = await GiteaDouble.start({ root, tokens: { [TOKEN]: token } });
    return new GiteaFixture(double, tokenFile, token, async () => {
      await double.close();
      await directory.remove();
    });
  }

  /** What the token may do from now on. */
  allow(scopes: readonly string[]): void {
    this.token.scopes = scopes;
  }

  get env(): Readonly<Record<string, string>> {
    return {
      INQUEST_FORGE: 'gitea',
      INQUEST_BRANCH_POLICY: 'session',
      INQUEST_GITEA_URL: this.double.url,
      INQUEST_GITEA_OWNER: 'robot',
      INQUEST_GITEA_TOKEN_FILE: this.tokenFile,
    };
  }

  /** The repository of a project as the forge has it. */
  repository(project: string): DoubleRepository {
    const found = this.double.repositories.get('robot', project);
    if (found === null) throw new Error(`the forge has no repository for ${project}`);
    return found;
  }

  /** Makes a repository whose `main` is what `source` has there, as a person would have put it there. */
  async seed(project: string, source: string): Promise<void> {
    const { gitDirectory, shown } = await this.double.repositories.create('robot', project);
    execFileSync('git', [`--git-dir=${source}`, 'push', '--quiet', gitDirectory, 'main:main'], { stdio: 'ignore' });
    // It has been there for long enough that the API shows it.
    shown.set('main', { commit: this.git(project, 'rev-parse', 'main'), staleReads: 0 });
  }

  /** Plain git on what the forge has of a project. */
  git(project: string, ...args: string[]): string {
    const { gitDirectory } = this.repository(project);
    const options = [`--git-dir=${gitDirectory}`, '-c', 'user.name=x', '-c', 'user.email=x@x'];
    return execFileSync('git', [...options, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  }

  /** What is there of one branch of a project, and of the release that a test made of it. */
  async seen(project: string, branch: string): Promise<OnForge> {
    const repository = this.repository(project);
    const releases = repository.releases.filter(({ tag_name = '' }) => tag_name === tagOf(branch));
    return {
      updates: await updatesOf(repository, branch).catch(() => 0),
      pullRequests: repository.pulls
        .filter(({ head }) => head?.ref === branch)
        .map(({ title = '', body = '' }) => ({ title, body })),
      releases: releases
        .filter(({ draft }) => draft !== true)
        .map(({ tag_name: tag = '', assets = [] }) => ({
          tag,
          artifacts: assets.map(({ name, size }) => `${name} ${size}`),
        })),
      drafts: releases.filter(({ draft }) => draft === true).length,
    };
  }
}

/** The tag under which tests release what is on a branch. */
export const tagOf = (branch: string): string => `release-${branch.split('/').at(-1)}`;
