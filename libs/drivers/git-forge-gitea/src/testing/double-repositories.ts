import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { PullRequest, Release, Repository } from 'gitea-js';
import { runCommand } from '@inquest/process';

/** A repository of the double: its git directory is real, all else is in memory. */
export interface DoubleRepository {
  readonly id: number;
  readonly gitDirectory: string;
  owner: string;
  name: string;
  isPrivate: boolean;
  isArchived: boolean;
  isMirror: boolean;
  mayPush: boolean;
  topics: string[];
  readonly pulls: PullRequest[];
  readonly releases: Release[];
  /** What the API says of branches, and for how many more reads it will say that. */
  readonly shown: Map<string, { commit: string | null; staleReads: number }>;
  /** For how many more reads the API says that the repository does not exist. */
  hiddenReads: number;
}

/** Repositories by owner and name, which Gitea compares without regard to case; and where renamed ones went. */
export class DoubleRepositories {
  private readonly byKey = new Map<string, DoubleRepository>();
  private readonly renamed = new Map<string, DoubleRepository>();
  private lastId = 0;

  constructor(readonly root: string) {}

  get(owner: string, name: string): DoubleRepository | null {
    return this.byKey.get(keyOf(owner, name)) ?? null;
  }

  /** The repository that had this name once. */
  renamedFrom(owner: string, name: string): DoubleRepository | null {
    return this.renamed.get(keyOf(owner, name)) ?? null;
  }

  all(): readonly DoubleRepository[] {
    return [...this.byKey.values()];
  }

  async create(owner: string, name: string, more: Partial<DoubleRepository> = {}): Promise<DoubleRepository> {
    const gitDirectory = path.join(this.root, owner, `${name}.git`);
    const repository: DoubleRepository = {
      id: ++this.lastId,
      gitDirectory,
      owner,
      name,
      isPrivate: true,
      isArchived: false,
      isMirror: false,
      mayPush: true,
      topics: [],
      pulls: [],
      releases: [],
      shown: new Map(),
      hiddenReads: 0,
      ...more,
    };
    // Before the first wait: of two creations at once the second must meet the first.
    this.byKey.set(keyOf(owner, name), repository);
    await mkdir(gitDirectory, { recursive: true });
    await runCommand('git', ['init', '--quiet', '--bare', '--initial-branch=main', gitDirectory]);
    await runCommand('git', [`--git-dir=${gitDirectory}`, 'config', 'core.logAllRefUpdates', 'always']);
    return repository;
  }

  /** From now on the old name leads to the new one. */
  rename(repository: DoubleRepository, to: { readonly owner: string; readonly name: string }): void {
    const oldKey = keyOf(repository.owner, repository.name);
    this.byKey.delete(oldKey);
    Object.assign(repository, to);
    this.byKey.set(keyOf(to.owner, to.name), repository);
    this.renamed.set(oldKey, repository);
  }
}

/** The commit of a ref; null when there is none. */
export async function commitOfRef({ gitDirectory }: DoubleRepository, ref: string): Promise<string | null> {
  const args = [`--git-dir=${gitDirectory}`, 'for-each-ref', '--format=%(objectname)', ref];
  const { stdout } = await runCommand('git', args);
  return stdout.trim() === '' ? null : stdout.trim();
}

/** How often a branch was made or moved. */
export async function updatesOf({ gitDirectory }: DoubleRepository, branch: string): Promise<number> {
  const log = await readFile(path.join(gitDirectory, 'logs', 'refs', 'heads', branch), 'utf8');
  return log.split('\n').length - 1;
}

/** A person merges or closes a pull request and, unless it is kept, deletes its branch. */
export async function endPull(
  { gitDirectory, pulls }: DoubleRepository,
  number: number,
  end: 'merged' | 'closed',
  { keepsBranch }: { readonly keepsBranch: boolean } = { keepsBranch: false },
): Promise<void> {
  const pull = pulls.find((one) => one.number === number);
  if (pull === undefined) throw new Error(`there is no pull request ${number}`);
  Object.assign(pull, { state: 'closed', merged: end === 'merged' });
  const git = `--git-dir=${gitDirectory}`;
  const [head, base] = [`refs/heads/${pull.head?.label}`, `refs/heads/${pull.base?.label}`];
  if (end === 'merged') await runCommand('git', [git, 'update-ref', base, head]);
  if (!keepsBranch) await runCommand('git', [git, 'update-ref', '-d', head]);
}

/** Makes a tag; false when the commit is not there. */
export async function makeTag({ gitDirectory }: DoubleRepository, tag: string, commit: string): Promise<boolean> {
  const args = [`--git-dir=${gitDirectory}`, 'update-ref', `refs/tags/${tag}`, commit];
  const { exitCode } = await runCommand('git', args, { acceptExitCodes: [0, 1, 128] });
  return exitCode === 0;
}

/** As the API shows it. The URLs name another host, as those of a Gitea with a wrong ROOT_URL do. */
export const repositoryJson = (repository: DoubleRepository): Repository => ({
  id: repository.id,
  name: repository.name,
  full_name: `${repository.owner}/${repository.name}`,
  owner: { id: 1, login: repository.owner },
  private: repository.isPrivate,
  archived: repository.isArchived,
  mirror: repository.isMirror,
  default_branch: 'main',
  html_url: `https://wrong-root-url.invalid/${repository.owner}/${repository.name}`,
  clone_url: `https://wrong-root-url.invalid/${repository.owner}/${repository.name}.git`,
  permissions: { admin: repository.mayPush, push: repository.mayPush, pull: true },
});

const keyOf = (owner: string, name: string): string => `${owner}/${name}`.toLowerCase();
