import {
  branchMoved,
  checkPullRequest,
  checkPushRequest,
  checkRelease,
  checkTopics,
  commitUnknown,
  gitForgeError,
  type EnsuredBranch,
  type ForgePullRequest,
  type ForgeRelease,
  type ForgeRepository,
  type GitForge,
  type PullRequestForge,
  type PullRequestRequest,
  type PushRequest,
  type PushResult,
  type ReleaseForge,
  type ReleaseRequest,
  type TopicForge,
} from '@inquest/git-forge';
import { delay, isDomainError, kernelError, parseId, type DomainError } from '@inquest/kernel';
import { HardenedGit } from '@inquest/work-tree';
import { CircuitBreaker } from './circuit-breaker';
import { GitTransport, type PushOutcome } from './git-transport';
import { GiteaAddress } from './gitea-address';
import { BranchAnswer, VersionAnswer } from './gitea-answers';
import { GiteaClient } from './gitea-client';
import { GiteaPullRequests } from './gitea-pull-requests';
import { GiteaReleases } from './gitea-releases';
import { GiteaRepositories, type GiteaRepository } from './gitea-repositories';
import { GiteaTopics } from './gitea-topics';
import { parseAnswer } from './parse-answer';
import { delayMsAfter, readBack, READ_BACK_PATIENCE, REQUEST_PATIENCE, type Patience } from './patience';
import { TokenFile } from './token-file';

export interface GiteaForgeOptions {
  /** Base URL, with the sub-path when Gitea is served below one. */
  readonly url: string;
  /** User or organization that owns the repositories. */
  readonly owner: string;
  /** File of mode 0600 that holds the token and nothing else. */
  readonly tokenFile: string;
  /** Visibility of repositories that are made. Default: private. */
  readonly isPrivate?: boolean;
  /** Lets the token travel over http to another host. Default: no. */
  readonly allowHttp?: boolean;
  readonly requestPatience?: Patience;
  readonly readBackPatience?: Patience;
  readonly breaker?: CircuitBreaker;
}

type FailedPush = PushOutcome & { readonly isDone: false };

/**
 * A Gitea server: repositories of one owner, pushes over smart HTTP, pull requests, releases, topics. Every change is read
 * back through the API before it is reported, because Gitea accepts pushes before it shows them.
 */
export class GiteaForge implements GitForge, PullRequestForge, ReleaseForge, TopicForge {
  readonly name = 'gitea';
  private readonly address: GiteaAddress;
  private readonly client: GiteaClient;
  private readonly repositories: GiteaRepositories;
  private readonly transport: GitTransport;
  private readonly breaker: CircuitBreaker;
  private readonly requestPatience: Patience;
  private readonly readBackPatience: Patience;

  /** Throws `FORGE_ADDRESS_INVALID` for a URL that is not usable. Nothing is read or asked yet. */
  constructor(options: GiteaForgeOptions) {
    const { url, owner, tokenFile, isPrivate = true, allowHttp = false } = options;
    this.requestPatience = options.requestPatience ?? REQUEST_PATIENCE;
    this.readBackPatience = options.readBackPatience ?? READ_BACK_PATIENCE;
    this.breaker = options.breaker ?? new CircuitBreaker();
    this.address = GiteaAddress.parse(url, { allowHttp });
    const token = new TokenFile(tokenFile);
    this.client = new GiteaClient(this.address, token, this.requestPatience);
    this.repositories = new GiteaRepositories(this.client, { owner, isPrivate }, this.readBackPatience);
    this.transport = new GitTransport(this.address, token, this.requestPatience);
  }

  async check(signal: AbortSignal): Promise<void> {
    // An operator who asks wants to know how it is now.
    await this.breaker.observe(() =>
      this.available(signal, async () => {
        await this.client.object(VersionAnswer, { method: 'GET', path: ['version'] }, signal);
        await this.repositories.checkMayCreate(signal);
      }),
    );
  }

  async ensureRepository(project: string, signal: AbortSignal): Promise<ForgeRepository> {
    parseId(project, 'project');
    const { owner, name } = await this.guarded(signal, () => this.repositories.ensure(project, signal));
    return { url: this.address.page(owner, name) };
  }

  async push(request: PushRequest, signal: AbortSignal): Promise<PushResult> {
    checkPushRequest(request);
    return this.guarded(signal, async () => {
      const repository = await this.repositories.get(request.project, signal);
      const source = new HardenedGit(request.repositoryPath);
      if (!(await source.hasCommit(request.commit, signal))) throw commitUnknown(request.project, request.commit);
      await this.send(repository, source, request, signal);
      return this.verify(repository, request, signal);
    });
  }

  async ensureBranch(request: PushRequest, signal: AbortSignal): Promise<EnsuredBranch> {
    checkPushRequest(request);
    return this.guarded(signal, async () => {
      const repository = await this.repositories.get(request.project, signal);
      const source = new HardenedGit(request.repositoryPath);
      if (!(await source.hasCommit(request.commit, signal))) throw commitUnknown(request.project, request.commit);
      const isMade = await this.makeBranch(repository, source, request, signal);
      await this.verify(repository, request, signal, (found) => found !== null);
      return { isMade };
    });
  }

  async openPullRequest(request: PullRequestRequest, signal: AbortSignal): Promise<ForgePullRequest> {
    checkPullRequest(request);
    return this.guarded(signal, async () => {
      const repository = await this.repositories.get(request.project, signal);
      return new GiteaPullRequests(this.client, this.address, this.requestPatience).open(repository, request, signal);
    });
  }

  async publishRelease(request: ReleaseRequest, signal: AbortSignal): Promise<ForgeRelease> {
    checkRelease(request);
    return this.guarded(signal, async () => {
      const repository = await this.repositories.get(request.project, signal);
      const releases = new GiteaReleases(this.client, this.address, this.readBackPatience);
      return releases.publish(repository, request, signal);
    });
  }

  async addTopics(project: string, topics: readonly string[], signal: AbortSignal): Promise<void> {
    checkTopics(project, topics);
    await this.guarded(signal, async () => {
      const repository = await this.repositories.get(project, signal);
      await new GiteaTopics(this.client, this.readBackPatience).add(repository, topics, signal);
    });
  }

  /** Until the branch is at the commit, whoever brought it there: an answer that was lost counts as given. */
  private async send(
    repository: GiteaRepository,
    source: HardenedGit,
    request: PushRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const { branch, commit } = request;
    const url = this.address.clone(repository.owner, repository.name);
    for (let attempt = 1; ; attempt++) {
      if ((await this.transport.headOf(source, url, branch, signal)) === commit) return;
      const outcome = await this.transport.push(source, url, request, signal);
      if (outcome.isDone) return;
      const found = await this.transport.headOf(source, url, branch, signal);
      if (found === commit) return;
      if (found !== null && !(await source.standsOn(commit, found, signal))) throw branchMoved(request, found);
      if (!this.isWorthRepeating(outcome, attempt)) throw pushFailed(request, outcome);
      await delay(delayMsAfter(attempt, this.requestPatience), signal);
    }
  }

  /** True when it was made here, false when it was there. */
  private async makeBranch(
    repository: GiteaRepository,
    source: HardenedGit,
    request: PushRequest,
    signal: AbortSignal,
  ): Promise<boolean> {
    const url = this.address.clone(repository.owner, repository.name);
    const isThere = async (): Promise<boolean> =>
      (await this.transport.headOf(source, url, request.branch, signal)) !== null;
    if (await isThere()) return false;
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.transport.make(source, url, request, signal);
      if (outcome.isDone) return true;
      if (await isThere()) return false;
      if (!this.isWorthRepeating(outcome, attempt)) throw pushFailed(request, outcome);
      await delay(delayMsAfter(attempt, this.requestPatience), signal);
    }
  }

  private isWorthRepeating(outcome: FailedPush, attempt: number): boolean {
    return outcome.isTransient && attempt < this.requestPatience.attempts;
  }

  private async verify(
    { owner, name }: GiteaRepository,
    { project, branch, commit }: PushRequest,
    signal: AbortSignal,
    isExpected: (found: string | null) => boolean = (found) => found === commit,
  ): Promise<PushResult> {
    const path = ['repos', owner, name, 'branches', ...branch.split('/')];
    // A branch that is not known yet is 404, of a repository still thought empty 400 or 409, and in some versions 500.
    const request = { method: 'GET', path, accept: [400, 404, 409, 500] } as const;
    const read = async (): Promise<string | null> => {
      const { status, body } = await this.client.request(request, signal);
      return status === 200 ? parseAnswer(BranchAnswer, body, `GET /${path.join('/')}`).commit.id : null;
    };
    const found = await readBack(read, isExpected, this.readBackPatience, signal);
    if (isExpected(found)) return { branch, commit, verified: true };
    const message = `branch ${branch} of ${project} was pushed, but reads back as ${found ?? 'missing'} instead of ${commit}`;
    throw gitForgeError('FORGE_PUSH_UNVERIFIED', message, { project, branch, commit, found });
  }

  private guarded<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return this.breaker.run(() => this.available(signal, work));
  }

  private async available<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (signal.aborted) throw kernelError('OPERATION_ABORTED', 'the forge call was cancelled', {}, signal.reason);
    try {
      return await work();
    } catch (e) {
      if (!isDomainError(e) || !e.code.startsWith('PROCESS_')) throw e;
      throw gitForgeError(
        'FORGE_UNAVAILABLE',
        `git could not reach the forge at ${this.address.href}: ${e.message}`,
        {},
        e,
      );
    }
  }
}

function pushFailed({ project, branch }: PushRequest, { isTransient, why }: FailedPush): DomainError {
  const message = `branch ${branch} of ${project} could not be pushed: ${why}`;
  return gitForgeError(isTransient ? 'FORGE_UNAVAILABLE' : 'FORGE_PUSH_FAILED', message, { project, branch });
}
