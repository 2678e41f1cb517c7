import { gitForgeError, type ForgePullRequest, type PullRequestRequest } from '@inquest/git-forge';
import { delay, hasCode } from '@inquest/kernel';
import type { GiteaAddress } from './gitea-address';
import { BranchAnswer, PullRequestAnswer } from './gitea-answers';
import type { GiteaClient } from './gitea-client';
import { notGitea } from './gitea-failure';
import type { GiteaRepository } from './gitea-repositories';
import { parseAnswer } from './parse-answer';
import { delayMsAfter, type Patience } from './patience';

const CREATION = 'the creation of a pull request';

/** Of pull requests that were updated since: 500 of them between an attempt and the next one. */
const MAX_CLOSED_PAGES = 10;

/** Pull requests between branches of one repository. */
export class GiteaPullRequests {
  constructor(
    private readonly client: GiteaClient,
    private readonly address: GiteaAddress,
    private readonly patience: Patience,
  ) {}

  /**
   * The open one between the two branches with this title and body; else the one that has the marker, which somebody
   * merged or closed; else one that is made.
   */
  async open(repository: GiteaRepository, request: PullRequestRequest, signal: AbortSignal): Promise<ForgePullRequest> {
    const found = await this.findOrCreate(repository, request, signal);
    const { number, state, merged } = found;
    if (state === 'open' && (found.title !== request.title || found.body !== request.body)) {
      await this.edit(repository, found, request, signal);
    }
    const url = this.address.page(repository.owner, repository.name, 'pulls', String(number));
    return { number, url, state: merged ? 'merged' : state === 'open' ? 'open' : 'closed' };
  }

  /** Looks again before each try: the one before may have made it, and somebody may have dealt with it at once. */
  private async findOrCreate(
    repository: GiteaRepository,
    request: PullRequestRequest,
    signal: AbortSignal,
  ): Promise<PullRequestAnswer> {
    for (let attempt = 1; ; attempt++) {
      const open = await this.findOpen(repository, request, signal);
      const known = open ?? (await this.findOver(repository, request, signal));
      if (known !== null) return known;
      try {
        return await this.create(repository, request, signal);
      } catch (e) {
        if (!hasCode(e, 'FORGE_UNAVAILABLE') || attempt >= this.patience.attempts) throw e;
        await delay(delayMsAfter(attempt, this.patience), signal);
      }
    }
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

  private async findOpen(
    { id, owner, name }: GiteaRepository,
    { head, base }: PullRequestRequest,
    signal: AbortSignal,
  ): Promise<PullRequestAnswer | null> {
    const path = ['repos', owner, name, 'pulls'];
    const open = await this.client.list(PullRequestAnswer, { path, query: { state: 'open' } }, signal);
    return open.find((one) => one.head.ref === head && one.head.repo_id === id && one.base.ref === base) ?? null;
  }

  /** One that a person has dealt with. Anybody may write a marker into a text, but only into pull requests of their branches. */
  private async findOver(
    { id, owner, name }: GiteaRepository,
    { head, base, marker }: PullRequestRequest,
    signal: AbortSignal,
  ): Promise<PullRequestAnswer | null> {
    const path = ['repos', owner, name, 'pulls'];
    // What was dealt with a moment ago stands on the first page.
    const query = { state: 'closed', sort: 'recentupdate' };
    let pages = 0;
    for await (const page of this.client.pages(PullRequestAnswer, { path, query }, signal)) {
      const found = page.find(
        (one) =>
          one.head.label === head && one.head.repo_id === id && one.base.label === base && one.body.includes(marker),
      );
      if (found !== undefined) return found;
      if (++pages >= MAX_CLOSED_PAGES) return null;
    }
    return null;
  }

  private async create(
    repository: GiteaRepository,
    request: PullRequestRequest,
    signal: AbortSignal,
  ): Promise<PullRequestAnswer> {
    const { head, base, title, body } = request;
    for (const branch of [base, head]) await this.checkBranch(repository, branch, request, signal);
    const path = ['repos', repository.owner, repository.name, 'pulls'];
    const answer = await this.client.request(
      { method: 'POST', path, json: { head, base, title, body }, accept: [409], isRepeated: false },
      signal,
    );
    if (answer.status !== 409) return parseAnswer(PullRequestAnswer, answer.body, CREATION);
    // Another caller, or an earlier attempt whose answer was lost, was faster.
    const found = await this.findOpen(repository, request, signal);
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
