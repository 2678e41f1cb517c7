import { access, constants, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  branchMoved,
  checkPushRequest,
  commitUnknown,
  gitForgeError,
  repositoryMissing,
  type EnsuredBranch,
  type ForgeRepository,
  type GitForge,
  type PushRequest,
  type PushResult,
} from '@inquest/git-forge';
import { isDomainError, kernelError, parseId, type DomainError } from '@inquest/kernel';
import { HardenedGit, onlyWhenMissing, type GitResult } from '@inquest/work-tree';

const DIRECTORY_MODE = 0o755;
const STAGING_PREFIX = '.new-'; // no project id begins with a dot

/**
 * A forge of bare repositories on this host: `<root>/<project>.git`. For machines without a forge, and the plainest
 * thing that `git clone` understands. Hooks that an operator puts into one of them run, as on any forge; nothing of the
 * project's own repository does.
 */
export class BareGitForge implements GitForge {
  readonly name = 'bare';

  constructor(private readonly root: string) {}

  async check(signal: AbortSignal): Promise<void> {
    await this.available(signal, async () => {
      await mkdir(this.root, { recursive: true, mode: DIRECTORY_MODE });
      await access(this.root, constants.R_OK | constants.W_OK | constants.X_OK);
      await new HardenedGit(this.root).run(['version'], { signal });
    });
  }

  async ensureRepository(project: string, signal: AbortSignal): Promise<ForgeRepository> {
    const target = this.pathOf(project);
    await this.available(signal, async () => {
      if (!(await isRepository(target))) await this.makeRepository(target, project, signal);
    });
    return { url: pathToFileURL(target).href };
  }

  async push(request: PushRequest, signal: AbortSignal): Promise<PushResult> {
    checkPushRequest(request);
    const { project, branch, commit } = request;
    const target = this.pathOf(project);
    return this.available(signal, async () => {
      if (!(await isRepository(target))) throw repositoryMissing(project);
      const source = new HardenedGit(request.repositoryPath);
      if (!(await source.hasCommit(commit, signal))) throw commitUnknown(project, commit);
      const forge = new HardenedGit(target);
      if ((await headOf(forge, branch, signal)) !== commit) await this.send(source, target, request, signal);
      const found = await headOf(forge, branch, signal);
      if (found === commit) return { branch, commit, verified: true };
      const message = `branch ${branch} of ${project} was pushed, but reads back as ${found ?? 'missing'} instead of ${commit}`;
      throw gitForgeError('FORGE_PUSH_UNVERIFIED', message, { project, branch, commit, found });
    });
  }

  async ensureBranch(request: PushRequest, signal: AbortSignal): Promise<EnsuredBranch> {
    checkPushRequest(request);
    const { project, branch, commit } = request;
    const target = this.pathOf(project);
    return this.available(signal, async () => {
      if (!(await isRepository(target))) throw repositoryMissing(project);
      const source = new HardenedGit(request.repositoryPath);
      if (!(await source.hasCommit(commit, signal))) throw commitUnknown(project, commit);
      const forge = new HardenedGit(target);
      if ((await headOf(forge, branch, signal)) !== null) return { isMade: false };
      const pushed = await source.run(
        ['push', '--porcelain', '--no-verify', ...onlyWhenMissing(branch), target, `${commit}:refs/heads/${branch}`],
        { signal, acceptExitCodes: [0, 1, 128] },
      );
      if ((await headOf(forge, branch, signal)) !== null) return { isMade: pushed.exitCode === 0 };
      throw pushFailed(request, pushed);
    });
  }

  private async send(source: HardenedGit, target: string, request: PushRequest, signal: AbortSignal): Promise<void> {
    const { branch, commit } = request;
    const refspec = `${commit}:refs/heads/${branch}`; // without a leading +, git moves a branch only forward
    const pushed = await source.run(['push', '--porcelain', '--no-verify', target, refspec], {
      signal,
      acceptExitCodes: [0, 1, 128],
    });
    if (pushed.exitCode === 0) return;
    const found = await headOf(new HardenedGit(target), branch, signal);
    if (found !== null && !(await source.standsOn(commit, found, signal))) throw branchMoved(request, found);
    throw pushFailed(request, pushed);
  }

  /** Made aside and then renamed, so that a crash leaves no half repository and two makers do not meet in one. */
  private async makeRepository(target: string, project: string, signal: AbortSignal): Promise<void> {
    await mkdir(this.root, { recursive: true, mode: DIRECTORY_MODE });
    const staging = await mkdtemp(path.join(this.root, STAGING_PREFIX));
    try {
      await HardenedGit.init(staging, signal);
      await rename(staging, target);
    } catch (e) {
      await rm(staging, { recursive: true, force: true });
      if (!isOccupied(e)) throw e;
      if (await isRepository(target)) return; // another maker was faster
      const message = `${target} is in the way of the repository of project ${project}`;
      throw gitForgeError('FORGE_REPOSITORY_UNUSABLE', message, { project }, e);
    }
  }

  /** Removes what a crash left of repositories in the making. Only while nothing is being made. Gives how many there were. */
  async removeLeftovers(): Promise<number> {
    const names = await readdir(this.root).catch((): string[] => []);
    const leftovers = names.filter((name) => name.startsWith(STAGING_PREFIX));
    for (const name of leftovers) await rm(path.join(this.root, name), { recursive: true, force: true });
    return leftovers.length;
  }

  private pathOf(project: string): string {
    return path.join(this.root, `${parseId(project, 'project')}.git`);
  }

  private async available<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (signal.aborted) throw kernelError('OPERATION_ABORTED', 'the forge call was cancelled', {}, signal.reason);
    try {
      return await work();
    } catch (e) {
      if (isDomainError(e) && !e.code.startsWith('PROCESS_')) throw e;
      const why = typeof e === 'object' && e !== null && 'message' in e ? String(e.message) : 'unknown reason';
      throw gitForgeError('FORGE_UNAVAILABLE', `the bare forge at ${this.root} does not work: ${why}`, {}, e);
    }
  }
}

function pushFailed({ project, branch }: PushRequest, { stdout, stderr }: GitResult): DomainError {
  const why = [stdout.toString('utf8'), stderr].join('\n').trim().slice(-1000);
  const message = `branch ${branch} of ${project} could not be pushed: ${why}`;
  return gitForgeError('FORGE_PUSH_FAILED', message, { project, branch });
}

const isRepository = (directory: string): Promise<boolean> =>
  stat(path.join(directory, 'HEAD')).then(
    (status) => status.isFile(),
    () => false,
  );

// A directory that is not empty, or something that is no directory, has the name.
const isOccupied = (e: unknown): boolean => {
  const code = typeof e === 'object' && e !== null && 'code' in e ? e.code : null;
  return code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOTDIR';
};

async function headOf(git: HardenedGit, branch: string, signal: AbortSignal): Promise<string | null> {
  const found = await git.line(['for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`], { signal });
  return found === '' ? null : found;
}
