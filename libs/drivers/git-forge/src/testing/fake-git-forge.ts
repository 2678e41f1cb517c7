import { kernelError, parseId } from '@inquest/kernel';
import { gitForgeError } from '../errors';
import type { EnsuredBranch, ForgeRepository, GitForge, PushRequest, PushResult } from '../git-forge';
import { branchMoved, checkPushRequest, commitUnknown, repositoryMissing } from '../push-request';

/** Commits that exist, each with its parent (null: none). Stands in for the project repository. */
export type FakeHistory = Readonly<Record<string, string | null>>;

/** A forge in memory. */
export class FakeGitForge implements GitForge {
  readonly name = 'fake';
  /** How often a push had to change a branch. */
  pushes = 0;
  /** The code with which every call fails while it is set. */
  failWith: keyof typeof gitForgeError.table | null = null;
  private readonly repositories = new Map<string, Map<string, string>>();

  constructor(private readonly history: FakeHistory) {}

  async check(signal: AbortSignal): Promise<void> {
    this.step(signal);
  }

  async ensureRepository(project: string, signal: AbortSignal): Promise<ForgeRepository> {
    parseId(project, 'project');
    this.step(signal);
    if (!this.repositories.has(project)) this.repositories.set(project, new Map());
    return { url: `memory://${project}` };
  }

  async push(request: PushRequest, signal: AbortSignal): Promise<PushResult> {
    checkPushRequest(request);
    this.step(signal);
    const { project, branch, commit } = request;
    const branches = this.repositories.get(project);
    if (branches === undefined) throw repositoryMissing(project);
    if (!this.knows(commit)) throw commitUnknown(project, commit);
    const found = branches.get(branch);
    if (found !== undefined && !this.standsOn(commit, found)) throw branchMoved(request, found);
    if (found !== commit) this.pushes++;
    branches.set(branch, commit);
    return { branch, commit, verified: true };
  }

  async ensureBranch(request: PushRequest, signal: AbortSignal): Promise<EnsuredBranch> {
    checkPushRequest(request);
    this.step(signal);
    const { project, branch, commit } = request;
    const branches = this.repositories.get(project);
    if (branches === undefined) throw repositoryMissing(project);
    if (!this.knows(commit)) throw commitUnknown(project, commit);
    if (branches.has(branch)) return { isMade: false };
    branches.set(branch, commit);
    return { isMade: true };
  }

  /** The head of a branch, or null. */
  headOf(project: string, branch: string): string | null {
    return this.repositories.get(project)?.get(branch) ?? null;
  }

  protected deleteBranch(project: string, branch: string): void {
    this.repositories.get(project)?.delete(branch);
  }

  protected has(project: string): boolean {
    return this.repositories.has(project);
  }

  protected knows(commit: string): boolean {
    return Object.hasOwn(this.history, commit);
  }

  private standsOn(commit: string, ancestor: string): boolean {
    for (let at: string | null | undefined = commit; at; at = this.history[at]) if (at === ancestor) return true;
    return false;
  }

  protected step(signal: AbortSignal): void {
    if (signal.aborted) throw kernelError('OPERATION_ABORTED', 'the forge call was cancelled', {}, signal.reason);
    if (this.failWith !== null) throw gitForgeError(this.failWith, 'the fake forge was told to fail');
  }
}
