import { gitForgeError, type ForgePullRequest, type PullRequestRequest } from '@inquest/git-forge';
import type { GiteaAddress } from './gitea-address';
import { BranchAnswer, PullRequestAnswer } from './gitea-answers';
import type { GiteaClient } from './gitea-client';
import { notGitea } from './gitea-failure';
import type { GiteaRepository } from './gitea-repositories';
import { parseAnswer } from './parse-answer';

const CREATION = 'the creation of a pull request';

/** Pull requests between branches of one repository. */
export class GiteaPullRequests {
  constructor(
    private readonly client: GiteaClient,
    private readonly address: GiteaAddress,
  ) {}

  /** The open one between the two branches with this title and body, made when there is none. */
  async open(repository: GiteaRepository, request: PullRequestRequest, signal: AbortSignal): Promise<ForgePullRequest> {
    for (const branch of [request.base, request.head]) await this.checkBranch(repository, branch, request, signal);
    const known = await this.find(repository, request, signal);
    const found = known ?? (await this.create(repository, request, signal));
    if (found.title !== request.title || found.body !== request.body)
      await this.edit(repository, found, request, signal);
    const number = String(found.number);
    return { number: found.number, url: this.address.page(repository.owner, repository.name, 'pulls', number) };
  }

  private async checkBranch(
    { owner, name }: GiteaRepository,
    branch: string,
    { project }: PullRequestRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const path = ['repos', owner, name, 'branches', ...branch.split('/')];
    if ((await this.client.find(BranchAnswer, { method: 'GET', path }, signal)) !== null) return;
    const message = `the forge has no branch ${branch} in the repository of project ${project}`;
    throw gitForgeError('FORGE_BRANCH_MISSING', message, { project, branch });
  }

  private async find(
    { id, owner, name }: GiteaRepository,
    { head, base }: PullRequestRequest,
    signal: AbortSignal,
  ): Promise<PullRequestAnswer | null> {
    const path = ['repos', owner, name, 'pulls'];
    const open = await this.client.list(PullRequestAnswer, { path, query: { state: 'open' } }, signal);
    return open.find((one) => one.head.ref === head && one.head.repo_id === id && one.base.ref === base) ?? null;
  }

  private async create(
    repository: GiteaRepository,
    request: PullRequestRequest,
    signal: AbortSignal,
  ): Promise<PullRequestAnswer> {
    const { head, base, title, body } = request;
    const path = ['repos', repository.owner, repository.name, 'pulls'];
    const answer = await this.client.request(
      { method: 'POST', path, json: { head, base, title, body }, accept: [409] },
      signal,
    );
    if (answer.status !== 409) return parseAnswer(PullRequestAnswer, answer.body, CREATION);
    // Another caller, or an earlier attempt whose answer was lost, was faster.
    const found = await this.find(repository, request, signal);
    if (found !== null) return found;
    throw notGitea(CREATION, 'says that it exists, but it is not among the open ones');
  }

  private async edit(
    { owner, name }: GiteaRepository,
    { number }: PullRequestAnswer,
    { title, body }: PullRequestRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const path = ['repos', owner, name, 'pulls', String(number)];
    await this.client.request({ method: 'PATCH', path, json: { title, body } }, signal);
  }
}
