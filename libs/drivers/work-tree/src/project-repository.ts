import { open, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { hasCode, newId } from '@inquest/kernel';
import { writeBlobs } from './blob-writer';
import { CollectedTree, DEFAULT_TREE_LIMITS, type LeftOut, type TreeLimits } from './collected-tree';
import { checkMessage, identityEnvironment, type CommitIdentity } from './commit-identity';
import { workTreeError } from './errors';
import { HardenedGit } from './hardened-git';
import { changesSince, checkConflicts, insideSubmodules, type TreeChanges } from './tree-changes';
import { shownPath } from './safe-path';
import { applyFilter, type ScratchFilter } from './scratch-filter';
import { collectTree } from './tree-collector';
import { exportListing } from './tree-export';
import { listTree, type ListedEntry } from './tree-listing';

/** A regular file of a commit. */
export interface CommittedFile {
  readonly path: string;
  readonly objectId: string;
  readonly sizeBytes: number;
}

/** A file of the last commit, or why it is not read. */
export type ReadFile =
  | { readonly kind: 'content'; readonly bytes: Buffer }
  | { readonly kind: 'too-large'; readonly sizeBytes: number }
  /** A link or a submodule. */
  | { readonly kind: 'no-regular-file' };

/** The branch that commits go to, and where it is. */
export interface Head {
  readonly branch: string;
  /** Null while nothing was ever committed. */
  readonly commit: string | null;
  readonly committedAtMs: number | null;
}

export interface CommitRequest {
  readonly tree: CollectedTree;
  /** What the guest's tree began as: the commit that was exported to it, later the `base` of the last result. Null: empty. */
  readonly base: string | null;
  readonly message: string;
  readonly author: CommitIdentity;
  readonly committer: CommitIdentity;
  readonly filter: ScratchFilter;
  /**
   * Null: the first commit of an empty project has no parent. Otherwise it stands on an empty commit with this message,
   * so that there is something to compare it with and to merge it into.
   */
  readonly beginning: string | null;
}

export interface CommitResult {
  /**
   * Null when the guest changed nothing; then nothing was made. When the branch has just these changes already, as after
   * a commit whose answer was lost, the commit that it is at.
   */
  readonly commit: string | null;
  readonly branch: string;
  /** Paths that the commit adds or changes. */
  readonly kept: readonly string[];
  readonly deleted: readonly string[];
  /** By the filter, or because they are too large. */
  readonly held: readonly LeftOut[];
  /** For safety. */
  readonly refused: readonly LeftOut[];
  /** The `base` of the next commit of the same guest. */
  readonly base: string | null;
}

/** Tries when another commit lands between reading the branch and moving it. */
const MAX_ATTEMPTS = 5;
const REGULAR_MODES = ['100644', '100755'];
const NO_COMMIT = '0'.repeat(40);
const never = new AbortController().signal;

/**
 * The git repository of a project: bare, on the host, never mounted anywhere. No method checks files out or runs
 * anything that a file of the project could name: no hook, filter, attribute, monitor or pager.
 */
export class ProjectRepository {
  private constructor(private readonly git: HardenedGit) {}

  /** Makes the repository unless it is there. Idempotent. */
  static async init(gitDirectory: string, signal: AbortSignal = never): Promise<ProjectRepository> {
    return new ProjectRepository(await HardenedGit.init(gitDirectory, signal));
  }

  /** Opens a repository. Throws `REPOSITORY_MISSING`. */
  static async open(gitDirectory: string): Promise<ProjectRepository> {
    const isThere = await stat(path.join(gitDirectory, 'HEAD')).then(
      (status) => status.isFile(),
      () => false,
    );
    if (isThere) return new ProjectRepository(new HardenedGit(gitDirectory));
    throw workTreeError('REPOSITORY_MISSING', `there is no project repository at ${gitDirectory}`);
  }

  /** Its git directory, to publish from. */
  get path(): string {
    return this.git.gitDirectory;
  }

  /** Where the project is now. */
  async head(signal: AbortSignal = never): Promise<Head> {
    const ref = await this.git.line(['symbolic-ref', 'HEAD'], { signal });
    const found = await this.git.line(['for-each-ref', '--format=%(objectname) %(committerdate:unix)', ref], {
      signal,
    });
    const [commit, seconds] = found.split(' ');
    const branch = ref.replace(/^refs\/heads\//, '');
    if (!commit) return { branch, commit: null, committedAtMs: null };
    return { branch, commit, committedAtMs: Number(seconds) * 1000 };
  }

  /**
   * A tar archive of the project as it is now, without `.git`, and the `base` that it is. An error while it is read
   * destroys the stream. Submodules, and paths whose names are no UTF-8, are not in it; commits leave them as they are.
   */
  async exportTree(signal: AbortSignal = never): Promise<{ readonly archive: Readable; readonly base: string | null }> {
    const { commit, committedAtMs } = await this.head(signal);
    const listing = await listTree(this.git, commit, { signal });
    return { archive: exportListing(this.git, listing, committedAtMs ?? 0, signal), base: commit };
  }

  /** What the last commit has at a path; null when that is nothing. A file larger than `maxBytes` is not read. */
  async readFile(name: string, maxBytes: number, signal: AbortSignal = never): Promise<ReadFile | null> {
    const { commit } = await this.head(signal);
    if (commit === null) return null;
    const entry = (await listTree(this.git, commit, { signal })).get(name);
    if (entry === undefined) return null;
    const file = committedFile(entry);
    if (file === null) return { kind: 'no-regular-file' };
    const { sizeBytes } = file;
    if (sizeBytes > maxBytes) return { kind: 'too-large', sizeBytes };
    return { kind: 'content', bytes: (await this.git.run(['cat-file', 'blob', file.objectId], { signal })).stdout };
  }

  /** The first parent of a commit; null when it has none, or the project does not know it. */
  async parentOf(commit: string, signal: AbortSignal = never): Promise<string | null> {
    if (!(await this.git.hasCommit(commit, signal))) return null;
    const parent = await this.git.line(['rev-list', '--no-walk', '--parents', commit], { signal });
    return parent.split(' ')[1] ?? null;
  }

  /** True when `commit` is `ancestor` or stands on it; false too when the project does not know one of them. */
  standsOn(commit: string, ancestor: string, signal: AbortSignal = never): Promise<boolean> {
    return this.git.standsOn(commit, ancestor, signal);
  }

  /** Regular files of a commit, in the order of `names`; null for what is none there. Throws `COMMIT_BASE_UNKNOWN`. */
  async findFiles(
    commit: string,
    names: readonly string[],
    signal: AbortSignal = never,
  ): Promise<readonly (CommittedFile | null)[]> {
    await this.checkBase(commit, signal);
    const listing = await listTree(this.git, commit, { signal });
    return names.map((name) => committedFile(listing.get(name)));
  }

  /**
   * Writes the content of a committed file to a new file on this host, of mode 0600. Throws what creating the file
   * throws, the `PROCESS_*` codes and `OPERATION_ABORTED`; the file may be there in part then.
   */
  async copyFile({ objectId }: CommittedFile, filePath: string, signal: AbortSignal = never): Promise<void> {
    const target = await open(filePath, 'wx', 0o600);
    try {
      const command = await this.git.open(['cat-file', 'blob', objectId], { signal });
      command.stdin.end();
      for await (const chunk of command.stdout) await target.writeFile(chunk as Uint8Array);
      await command.finished;
    } finally {
      await target.close();
    }
  }

  /**
   * Takes a guest's tree. Throws `TREE_ARCHIVE_INVALID`, `TREE_TOO_LARGE`, `TREE_STORE_FULL` or `OPERATION_ABORTED`;
   * then nothing is left of it. The result must be discarded.
   */
  collect(tar: Readable, limits: Partial<TreeLimits> = {}, signal: AbortSignal = never): Promise<CollectedTree> {
    return collectTree(tar, { ...DEFAULT_TREE_LIMITS, ...limits }, signal);
  }

  /**
   * Commits what a guest changed since its `base` on top of the branch, and moves the branch. Somebody else's changes at
   * other paths stay; at the same paths they are a `COMMIT_CONFLICT`. Throws `COMMIT_INPUT_INVALID`,
   * `COMMIT_BASE_UNKNOWN`, `COMMIT_CONFLICT`, `PROCESS_*` or `OPERATION_ABORTED`; then the branch did not move.
   */
  async commit(request: CommitRequest, signal: AbortSignal = never): Promise<CommitResult> {
    const env = {
      ...identityEnvironment('AUTHOR', request.author),
      ...identityEnvironment('COMMITTER', request.committer),
    };
    checkMessage(request.message);
    await this.checkBase(request.base, signal);
    for (let attempt = 1; ; attempt++) {
      const result = await this.tryCommit(request, env, signal);
      if (result !== null) return result;
      if (attempt === MAX_ATTEMPTS)
        throw workTreeError('COMMIT_CONFLICT', 'the branch moved each time a commit was made');
    }
  }

  /** Null when the branch moved meanwhile. */
  private async tryCommit(
    request: CommitRequest,
    env: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<CommitResult | null> {
    const { tree: collected, base } = request;
    const head = await this.head(signal);
    const baseListing = await listTree(this.git, base, { signal });
    const headListing = base === head.commit ? baseListing : await listTree(this.git, head.commit, { signal });
    const submodules = insideSubmodules(baseListing, collected);
    const { kept, held } = await applyFilter(request.filter, collected, {
      isSkipped: (name) => submodules.has(name),
      isTracked: (name) => baseListing.has(name) || headListing.has(name),
    });
    const changes = changesSince(baseListing, collected, kept);
    const report = {
      branch: head.branch,
      deleted: changes.deleted,
      held,
      refused: [...collected.refused, ...[...submodules].map(belongsElsewhere)],
    };
    if (changes.written.size + changes.deleted.length === 0) return { ...report, commit: null, kept: [], base };
    if (headListing !== baseListing) checkConflicts(baseListing, headListing, changes);
    await writeBlobs(this.git, [...changes.written.values()], signal);
    const nextBase = await this.writeTree(base, changes, collected, signal);
    const tree = base === head.commit ? nextBase : await this.writeTree(head.commit, changes, collected, signal);
    const result = { ...report, kept: [...changes.written.keys()], base: nextBase };
    if (await this.hasTree(head, tree, signal)) return { ...result, commit: head.commit };
    const parent = head.commit ?? (await this.begin(request, signal));
    const commit = await this.writeCommit(tree, parent, request.message, env, signal);
    if (!(await this.moveBranch(head, commit, signal))) return null;
    return { ...result, commit };
  }

  /** An empty commit of the committer's that nothing names yet; null when the request wants none. */
  private async begin({ beginning, committer }: CommitRequest, signal: AbortSignal): Promise<string | null> {
    if (beginning === null) return null;
    const env = { ...identityEnvironment('AUTHOR', committer), ...identityEnvironment('COMMITTER', committer) };
    const tree = await this.git.line(['mktree'], { signal, input: '' });
    return this.writeCommit(tree, null, beginning, env, signal);
  }

  private writeCommit(
    tree: string,
    parent: string | null,
    message: string,
    env: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<string> {
    const parents = parent === null ? [] : ['-p', parent];
    return this.git.line(['commit-tree', tree, ...parents, '-F', '-'], { signal, env, input: message });
  }

  private async hasTree({ commit }: Head, tree: string, signal: AbortSignal): Promise<boolean> {
    return commit !== null && (await this.git.line(['rev-parse', `${commit}^{tree}`], { signal })) === tree;
  }

  private async checkBase(base: string | null, signal: AbortSignal): Promise<void> {
    if (base === null) return;
    const known = /^[0-9a-f]{40}$/.test(base)
      ? await this.git.run(['cat-file', '-e', `${base}^{tree}`], { signal, acceptExitCodes: [0, 1, 128] })
      : { exitCode: 1 };
    if (known.exitCode === 0) return;
    throw workTreeError('COMMIT_BASE_UNKNOWN', `the project has no tree ${JSON.stringify(base.slice(0, 80))}`);
  }

  /** The tree that has the changes on top of `onto`. Works in an index of its own, which is gone afterwards with the collected tree. */
  private async writeTree(
    onto: string | null,
    changes: TreeChanges,
    { directory }: CollectedTree,
    signal: AbortSignal,
  ): Promise<string> {
    const options = { signal, env: { GIT_INDEX_FILE: path.join(directory, newId('index')) } };
    await this.git.run(['read-tree', ...(onto === null ? ['--empty'] : [onto])], options);
    const deletions = changes.deleted.map((name) => `0 ${NO_COMMIT}\t${name}\0`);
    const additions = [...changes.written.values()].map(
      ({ mode, objectId, path: name }) => `${mode} ${objectId}\t${name}\0`,
    );
    await this.git.run(['update-index', '-z', '--index-info'], {
      ...options,
      input: [...deletions, ...additions].join(''),
    });
    return this.git.line(['write-tree'], options);
  }

  /** False when the branch is no longer where it was read. */
  private async moveBranch({ branch, commit: from }: Head, to: string, signal: AbortSignal): Promise<boolean> {
    const args = [
      'update-ref',
      '--create-reflog',
      '-m',
      'inquest: commit',
      `refs/heads/${branch}`,
      to,
      from ?? NO_COMMIT,
    ];
    try {
      await this.git.run(args, { signal });
      return true;
    } catch (e) {
      if (hasCode(e, 'PROCESS_FAILED') && (await this.head(signal)).commit !== from) return false;
      throw e;
    }
  }
}

function committedFile(entry: ListedEntry | undefined): CommittedFile | null {
  if (entry === undefined || entry.sizeBytes === null || !REGULAR_MODES.includes(entry.mode)) return null;
  return { path: entry.path, objectId: entry.objectId, sizeBytes: entry.sizeBytes };
}

const belongsElsewhere = (name: string): LeftOut => ({
  path: shownPath(name),
  rule: 'submodule',
  why: 'it lies in a submodule, which belongs to another repository',
});
