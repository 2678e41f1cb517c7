import { Injectable, Logger } from '@nestjs/common';
import { PUBLICATION_STEPS, type PublicationStepKind, type PublicationStepView } from '@inquest/contracts-publish';
import { cutText, errorView } from '@inquest/contracts-base';
import { hasCode, isDomainError, toDomainError, type ProjectId } from '@inquest/kernel';
import { opensPullRequests, publishesReleases, takesTopics, type GitForge } from '@inquest/git-forge';
import { ProjectsService } from '../projects/projects.service';
import { PublishServiceConfig } from '../publish-service.config';
import type { PublicationEntity } from './publication.entity';
import { pullRequestBody, pullRequestTitle } from './pull-request-text';
import { withArtifacts } from './release-artifacts';

/** How a step ended, without its kind. */
type StepEnd = Omit<PublicationStepView, 'kind'>;

const MAX_MESSAGE_LENGTH = 8192;

/** What a publication does at the forge once its branch is there. Every step may be repeated: the forge has one of each. */
@Injectable()
export class ForgeSteps {
  private readonly log = new Logger(ForgeSteps.name);

  constructor(
    private readonly config: PublishServiceConfig,
    private readonly projects: ProjectsService,
  ) {}

  /**
   * All steps of a publication at this forge, in order; those that are done or skipped stay so, the others are pending.
   * What the configuration asks for is asked only of a forge that can do it; a release that a person asked for is never
   * left out silently.
   */
  plan(forge: GitForge, row: PublicationEntity): PublicationStepView[] {
    const isAsked: Readonly<Record<PublicationStepKind, boolean>> = {
      'pull-request': opensPullRequests(forge) && row.branch !== row.baseBranch,
      release: row.release !== null,
      topics: takesTopics(forge) && this.config.topics.length > 0,
    };
    return PUBLICATION_STEPS.filter((kind) => isAsked[kind]).map((kind) => {
      const known = row.steps.find((step) => step.kind === kind);
      const isOver = known?.state === 'done' || known?.state === 'skipped';
      return isOver ? known : { kind, state: 'pending', url: null, message: 'about to be done', error: null };
    });
  }

  /** Does one step and says how it ended. Throws only once `stopping` aborts; the step is to be repeated then. */
  async run(
    kind: PublicationStepKind,
    forge: GitForge,
    row: PublicationEntity,
    signals: { readonly signal: AbortSignal; readonly stopping: AbortSignal },
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
      case 'pull-request':
        return this.openPullRequest(forge, row, signal);
      case 'release':
        return this.publishRelease(forge, row, signal);
      case 'topics':
        return this.addTopics(forge, row, signal);
    }
  }

  private async openPullRequest(forge: GitForge, row: PublicationEntity, signal: AbortSignal): Promise<StepEnd> {
    const { project, branch: head, baseBranch: base } = row;
    if (!opensPullRequests(forge)) return skipped(`${forge.name} has no pull requests`);
    const request = { project, head, base, title: pullRequestTitle(row), body: pullRequestBody(row) };
    try {
      const { number, url } = await forge.openPullRequest(request, signal);
      return done(`pull request ${number} asks to merge ${head} into ${base}`, url);
    } catch (e) {
      if (!hasCode(e, 'FORGE_BRANCH_MISSING') || toDomainError(e).details['branch'] === head) throw e;
      const why = `${(e as Error).message}, so there is nothing to merge into`;
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
