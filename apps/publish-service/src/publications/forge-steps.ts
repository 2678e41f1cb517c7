import { Injectable, Logger } from '@nestjs/common';
import { PUBLICATION_STEPS, type PublicationStepKind, type PublicationStepView } from '@inquest/contracts-publish';
import { cutText, errorView } from '@inquest/contracts-base';
import { hasCode, isDomainError, toDomainError, type ProjectId } from '@inquest/kernel';
import { opensPullRequests, publishesReleases, takesTopics, type GitForge } from '@inquest/git-forge';
import { ProjectsService } from '../projects/projects.service';
import { PublishServiceConfig } from '../publish-service.config';
import type { PublicationEntity } from './publication.entity';
import { pullRequestBody, pullRequestMarker, pullRequestTitle } from './pull-request-text';
import { withArtifacts } from './release-artifacts';
import { SessionHistory } from '../commits/session-history';

/** How a step ended, without its kind. */
type StepEnd = Omit<PublicationStepView, 'kind'>;

/** The end of an attempt, and the end of the service. */
export interface StepSignals {
  readonly signal: AbortSignal;
  readonly stopping: AbortSignal;
}

const NOTHING_BELOW = 'the project has no commit from before this session';

const MAX_MESSAGE_LENGTH = 8192;

/** What a publication does at the forge once its branch is there. Every step may be repeated: the forge has one of each. */
@Injectable()
export class ForgeSteps {
  private readonly log = new Logger(ForgeSteps.name);

  constructor(
    private readonly config: PublishServiceConfig,
    private readonly projects: ProjectsService,
    private readonly sessions: SessionHistory,
  ) {}

  /**
   * All steps of a publication at this forge, in order; those that are done or skipped stay so, the others are pending.
   * What the configuration asks for is asked only of a forge that can do it; a release that a person asked for is never
   * left out silently.
   */
  plan(forge: GitForge, row: PublicationEntity): PublicationStepView[] {
    const isAsked: Readonly<Record<PublicationStepKind, boolean>> = {
      'base-branch': row.steps.some(({ kind }) => kind === 'base-branch'),
      'pull-request': row.branch !== row.baseBranch,
      release: row.release !== null,
      topics: takesTopics(forge) && this.config.topics.length > 0,
    };
    return PUBLICATION_STEPS.filter((kind) => isAsked[kind]).map((kind) => {
      const known = row.steps.find((step) => step.kind === kind);
      const isOver = known?.state === 'done' || known?.state === 'skipped';
      return isOver ? known : { kind, state: 'pending', url: null, message: 'about to be done', error: null };
    });
  }

  /**
   * Makes the branch that the session's work is to be merged into, when the forge does not have it: before the session's
   * own is pushed, because a forge takes the first branch of a repository for its default one. Null when there is
   * nothing to make or nothing to say. Throws as `run` does.
   */
  async prepareBase(
    forge: GitForge,
    row: PublicationEntity,
    signals: StepSignals,
  ): Promise<PublicationStepView | null> {
    if (row.branch === row.baseBranch) return null;
    const step = await this.run('base-branch', forge, row, signals);
    return step.state === 'skipped' ? null : step;
  }

  /** Does one step and says how it ended. Throws only once `stopping` aborts; the step is to be repeated then. */
  async run(
    kind: PublicationStepKind,
    forge: GitForge,
    row: PublicationEntity,
    signals: StepSignals,
  ): Promise<PublicationStepView> {
    try {
      return { kind, ...(await this.attempt(kind, forge, row, signals.signal)) };
    } catch (e) {
      if (signals.stopping.aborted) throw e;
      if (!isDomainError(e)) this.log.error(`the ${kind} of publication ${row.publicationId} failed unexpectedly`, e);
      const error = errorView(toDomainError(e));
      return { kind, state: 'failed', url: null, message: cutText(error.message, MAX_MESSAGE_LENGTH), error };
    }
  }

  private attempt(
    kind: PublicationStepKind,
    forge: GitForge,
    row: PublicationEntity,
    signal: AbortSignal,
  ): Promise<StepEnd> {
    switch (kind) {
      case 'base-branch':
        return this.makeBase(forge, row, signal);
      case 'pull-request':
        return this.openPullRequest(forge, row, signal);
      case 'release':
        return this.publishRelease(forge, row, signal);
      case 'topics':
        return this.addTopics(forge, row, signal);
    }
  }

  private async makeBase(forge: GitForge, row: PublicationEntity, signal: AbortSignal): Promise<StepEnd> {
    const { project, baseBranch: branch } = row;
    const repository = await this.projects.open(project as ProjectId);
    const commit = await this.sessions.commitBefore(repository, row, signal);
    if (commit === null) return skipped(NOTHING_BELOW);
    const { isMade } = await forge.ensureBranch({ repositoryPath: repository.path, commit, branch, project }, signal);
    if (!isMade) return skipped(`${forge.name} has the branch ${branch}`);
    return done(`${branch} did not exist and was made at ${commit.slice(0, 12)}, where the session began`, null);
  }

  private async openPullRequest(forge: GitForge, row: PublicationEntity, signal: AbortSignal): Promise<StepEnd> {
    const { project, branch: head, baseBranch: base } = row;
    if (!opensPullRequests(forge)) {
      return skipped(`${forge.name} has no pull requests: merge ${head} into ${base} with git`);
    }
    const marker = pullRequestMarker(row);
    const request = { project, head, base, title: pullRequestTitle(row), body: pullRequestBody(row), marker };
    try {
      const { number, url, state } = await forge.openPullRequest(request, signal);
      if (state === 'open') return done(`pull request ${number} asks to merge ${head} into ${base}`, url);
      return done(`pull request ${number} of ${head} into ${base} was ${state} by somebody already`, url);
    } catch (e) {
      if (!hasCode(e, 'FORGE_BRANCH_MISSING') || toDomainError(e).details['branch'] === head) throw e;
      const why = `${(e as Error).message}, so there is nothing to merge into, and ${NOTHING_BELOW}`;
      return skipped(`${why}: make ${base} on the forge, for example from ${head}, then retry this publication`);
    }
  }

  private async publishRelease(forge: GitForge, row: PublicationEntity, signal: AbortSignal): Promise<StepEnd> {
    const { project, commit, release } = row;
    if (release === null) return skipped('no release was asked for');
    if (!publishesReleases(forge)) return skipped(`${forge.name} has no releases`);
    const repository = await this.projects.open(project as ProjectId);
    const { tag, url } = await withArtifacts(repository, { project, commit }, release, signal, (request) =>
      forge.publishRelease(request, signal),
    );
    return done(`release ${tag} with ${release.artifacts.length} artifact(s), read back`, url);
  }

  private async addTopics(forge: GitForge, { project }: PublicationEntity, signal: AbortSignal): Promise<StepEnd> {
    if (!takesTopics(forge)) return skipped(`${forge.name} has no topics`);
    const { topics } = this.config;
    await forge.addTopics(project, topics, signal);
    return done(`topics: ${topics.join(', ')}`, null);
  }
}

const done = (message: string, url: string | null): StepEnd => ({ state: 'done', url, message, error: null });

const skipped = (message: string): StepEnd => ({
  state: 'skipped',
  url: null,
  message: cutText(message, MAX_MESSAGE_LENGTH),
  error: null,
});
