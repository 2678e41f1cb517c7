import { gitForgeError } from '../errors';
import type {
  ForgePullRequest,
  ForgeRelease,
  PullRequestForge,
  PullRequestRequest,
  PullRequestState,
  ReleaseForge,
  ReleaseRequest,
  TopicForge,
} from '../forge-capabilities';
import { checkPullRequest, checkRelease, checkTopics } from '../forge-requests';
import { commitUnknown, repositoryMissing } from '../push-request';
import { FakeGitForge } from './fake-git-forge';

/** What the forge has of a pull request. */
export interface FakePullRequest extends PullRequestRequest {
  readonly number: number;
  state: PullRequestState;
}

/** A forge in memory with everything that people use around a repository. */
export class FakeHostedForge extends FakeGitForge implements PullRequestForge, ReleaseForge, TopicForge {
  readonly pullRequests: FakePullRequest[] = [];
  readonly releases: ReleaseRequest[] = [];
  private readonly topics = new Map<string, ReadonlySet<string>>();

  async openPullRequest(request: PullRequestRequest, signal: AbortSignal): Promise<ForgePullRequest> {
    checkPullRequest(request);
    this.step(signal);
    const { project, head, base } = request;
    this.checkRepository(project);
    const over = this.pullRequests.find(({ state, body }) => state !== 'open' && body.includes(request.marker));
    if (over !== undefined) return this.shown(over);
    const missing = [base, head].find((branch) => this.headOf(project, branch) === null);
    if (missing !== undefined) {
      throw gitForgeError('FORGE_BRANCH_MISSING', `the forge has no branch ${missing} of project ${project}`, {
        project,
        branch: missing,
      });
    }
    const at = this.pullRequests.findIndex(
      (one) => one.project === project && one.head === head && one.base === base && one.state === 'open',
    );
    const number = this.pullRequests[at]?.number ?? this.pullRequests.length + 1;
    const pull: FakePullRequest = { ...request, number, state: 'open' };
    this.pullRequests.splice(at < 0 ? this.pullRequests.length : at, 1, pull);
    return this.shown(pull);
  }

  private shown({ project, number, state }: FakePullRequest): ForgePullRequest {
    return { number, state, url: `memory://${project}/pulls/${number}` };
  }

  /** As a person does it. */
  endPullRequest(
    project: string,
    number: number,
    end: 'merged' | 'closed',
    { keepsBranch }: { readonly keepsBranch: boolean } = { keepsBranch: false },
  ): void {
    const pull = this.pullRequests.find((one) => one.project === project && one.number === number);
    if (pull === undefined) return;
    pull.state = end;
    if (!keepsBranch) this.deleteBranch(project, pull.head);
  }

  async publishRelease(request: ReleaseRequest, signal: AbortSignal): Promise<ForgeRelease> {
    checkRelease(request);
    this.step(signal);
    const { project, tag, commit } = request;
    this.checkRepository(project);
    if (!this.knows(commit)) throw commitUnknown(project, commit);
    const at = this.releases.findIndex((one) => one.project === project && one.tag === tag);
    const found = this.releases[at];
    if (found !== undefined && found.commit !== commit) {
      const message = `tag ${tag} of ${project} is at ${found.commit}, not at ${commit}; it was left alone`;
      throw gitForgeError('FORGE_TAG_TAKEN', message, { project, tag });
    }
    this.releases.splice(at < 0 ? this.releases.length : at, 1, request);
    return { tag, commit, url: `memory://${project}/releases/${tag}`, verified: true };
  }

  async addTopics(project: string, topics: readonly string[], signal: AbortSignal): Promise<void> {
    checkTopics(project, topics);
    this.step(signal);
    this.checkRepository(project);
    this.topics.set(project, new Set([...this.topicsOf(project), ...topics]));
  }

  topicsOf(project: string): readonly string[] {
    return [...(this.topics.get(project) ?? [])];
  }

  private checkRepository(project: string): void {
    if (!this.has(project)) throw repositoryMissing(project);
  }
}
