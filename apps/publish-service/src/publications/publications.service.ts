import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  publishError,
  type ForgeCheckView,
  type PublicationList,
  type PublicationView,
  type PublishRequest,
  type ReleaseRequest,
  type ReleaseView,
  type RetryRequest,
} from '@inquest/contracts-publish';
import { isDomainError, newId, type ProjectId, type PublicationId } from '@inquest/kernel';
import { GIT_FORGE, publishedBranch, type GitForge } from '@inquest/git-forge';
import { CommitEntity } from '../commits/commit.entity';
import { cutListing } from '../commits/commit-view';
import { SessionBaseEntity } from '../commits/session-base.entity';
import { ProjectsService } from '../projects/projects.service';
import { PublishServiceConfig } from '../publish-service.config';
import { PublicationEntity } from './publication.entity';
import { listedView, publicationView } from './publication-view';
import { PublicationsRepository, tokenAfter } from './publications.repository';
import { NO_FORGE, Publisher, type Prepare } from './publisher';
import { checkArtifacts } from './release-artifacts';

const CHECK_TIMEOUT_MS = 25_000;
/** Room for the items of one listing; NATS refuses messages over 1 MiB and the envelope needs some of it. */
const PAGE_BYTES = 700 * 1024;

/** Publications of sessions' commits, as they are asked for. */
@Injectable()
export class PublicationsService {
  constructor(
    private readonly config: PublishServiceConfig,
    private readonly database: DataSource,
    private readonly publications: PublicationsRepository,
    private readonly projects: ProjectsService,
    private readonly publisher: Publisher,
    @Inject(GIT_FORGE) private readonly forge: GitForge | null,
  ) {}

  /**
   * Publishes the newest commit of a session. A forge that refuses gives a publication in `failed` with the error; it
   * can be retried. Throws `PUBLISH_NOTHING_COMMITTED`.
   */
  async publish(request: PublishRequest): Promise<PublicationView> {
    const head = await this.newestCommit(request.sessionId, request.project);
    const row = await this.publications.insertOnce(await this.newPublication(request, head));
    return this.attempt(row.publicationId);
  }

  /**
   * Tries a failed publication again, and steps that were skipped; what is published stays as it is. `ownBranch` turns
   * one whose branch is not published yet to a branch of its session. Throws `PUBLICATION_UNKNOWN`.
   */
  async retry({ publicationId, ownBranch }: RetryRequest): Promise<PublicationView> {
    return this.attempt(publicationId, (row) => Promise.resolve(retryOf(row, ownBranch)));
  }

  /**
   * Releases the commit of a publication with files of the commit, and publishes it first if need be. The same tag again
   * gives the same release. Throws `PUBLICATION_UNKNOWN`, `PUBLICATION_RELEASED`, `RELEASE_ARTIFACT_UNKNOWN`,
   * `FORGE_REQUEST_INVALID` and, for the tag, `FORGE_BRANCH_INVALID`; nothing is promised then. What the forge refuses is in the step `release`.
   */
  async release({ publicationId, ...release }: ReleaseRequest): Promise<PublicationView> {
    return this.attempt(publicationId, (row) => this.releaseOf(row, { ...release }));
  }

  /** Throws `PUBLICATION_UNKNOWN`. */
  async show(publication: PublicationId): Promise<PublicationView> {
    return publicationView(await this.publications.get(publication));
  }

  /** Newest first; fewer than `limit` when they would not fit into a message. Throws `CURSOR_INVALID`. */
  async list(limit: number, nextToken: string | null): Promise<PublicationList> {
    const page = await this.publications.page(limit, nextToken);
    let bytes = 0;
    const fitting = page.items.filter((row, index) => {
      bytes += Buffer.byteLength(JSON.stringify(listedView(row)));
      return index === 0 || bytes <= PAGE_BYTES;
    });
    const isWhole = fitting.length === page.items.length;
    return { items: fitting.map(listedView), nextToken: isWhole ? page.nextToken : tokenAfter(fitting.at(-1)) };
  }

  async checkForge(): Promise<ForgeCheckView> {
    if (this.forge === null) return { forge: 'none', isUsable: false, message: NO_FORGE };
    try {
      await this.forge.check(AbortSignal.timeout(CHECK_TIMEOUT_MS));
      return { forge: this.forge.name, isUsable: true, message: 'the forge can be published to' };
    } catch (e) {
      if (!isDomainError(e)) throw e;
      return { forge: this.forge.name, isUsable: false, message: `${e.message} ${e.remediation}` };
    }
  }

  private async attempt(publicationId: string, prepare?: Prepare): Promise<PublicationView> {
    return publicationView(await this.publisher.attempt(publicationId as PublicationId, prepare));
  }

  private async newestCommit(sessionId: string, project: string): Promise<string> {
    const base = await this.database.getRepository(SessionBaseEntity).findOneBy({ sessionId, project });
    if (base?.head != null) return base.head;
    const message = `session ${sessionId} has made no commit in project "${project}"`;
    throw publishError('PUBLISH_NOTHING_COMMITTED', message, { session: sessionId });
  }

  private async newPublication(
    { sessionId, project, title, report }: PublishRequest,
    commit: string,
  ): Promise<PublicationEntity> {
    const repository = await this.projects.open(project as ProjectId);
    const { branch: defaultBranch } = await repository.head();
    const last = await this.database
      .getRepository(CommitEntity)
      .findOne({ where: { sessionId }, order: { at: 'DESC' } });
    const { heldCount = 0, refusedCount = 0, held = [], refused = [], rulesProblem = null } = last?.view ?? {};
    return {
      publicationId: newId<PublicationId>('pub'),
      sessionId,
      project,
      state: 'pending',
      forge: this.forge?.name ?? 'none',
      branch: publishedBranch(this.config.branchPolicy, { sessionId, defaultBranch }),
      baseBranch: defaultBranch,
      commit,
      title,
      report,
      url: null,
      isVerified: false,
      message: 'about to be published',
      error: null,
      attempts: 0,
      nextAttemptAt: null,
      steps: [],
      release: null,
      heldCount: heldCount + refusedCount,
      held: cutListing([...held, ...refused]),
      rulesProblem,
      createdAt: new Date(),
      publishedAt: null,
    };
  }

  private async releaseOf(row: PublicationEntity, release: ReleaseView): Promise<Partial<PublicationEntity> | null> {
    const step = row.steps.find(({ kind }) => kind === 'release');
    if (row.release !== null && step?.state === 'done') {
      if (row.release.tag === release.tag) return null;
      const message = `publication ${row.publicationId} is released as ${row.release.tag}`;
      throw publishError('PUBLICATION_RELEASED', message, { publication: row.publicationId, tag: row.release.tag });
    }
    const repository = await this.projects.open(row.project as ProjectId);
    await checkArtifacts(repository, row, release, AbortSignal.timeout(CHECK_TIMEOUT_MS));
    return {
      ...retryOf(row, false),
      state: 'pending',
      release,
      steps: row.steps.filter(({ kind }) => kind !== 'release'),
    };
  }
}

/** What a retry changes before the attempt; null: nothing is left to do, or the branch comes first. */
function retryOf(row: PublicationEntity, ownBranch: boolean): Partial<PublicationEntity> | null {
  const branch =
    ownBranch && !row.isVerified ? publishedBranch('session', { ...row, defaultBranch: row.branch }) : row.branch;
  const steps = row.steps.filter(({ state }) => state !== 'skipped');
  if (branch === row.branch && steps.length === row.steps.length) return null;
  return { branch, steps, ...(row.state === 'published' ? { state: 'pending' } : {}) };
}
