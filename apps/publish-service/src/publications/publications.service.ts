import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  publishError,
  type ForgeCheckView,
  type PublicationList,
  type PublicationView,
  type PublishRequest,
} from '@inquest/contracts-publish';
import { errorView } from '@inquest/contracts-shared';
import {
  deadlineSignal,
  hasCode,
  isDomainError,
  KeyedQueue,
  newId,
  toDomainError,
  type ProjectId,
  type PublicationId,
} from '@inquest/kernel';
import { GIT_FORGE, publishedBranch, type GitForge } from '@inquest/git-forge';
import { CommitEntity } from '../commits/commit.entity';
import { cutListing } from '../commits/commit-view';
import { SessionBaseEntity } from '../commits/session-base.entity';
import { ProjectsService } from '../projects/projects.service';
import { PublishServiceConfig } from '../publish-service.config';
import { PublicationEntity } from './publication.entity';
import { listedView, publicationView } from './publication-view';
import { PublicationsRepository, tokenAfter } from './publications.repository';

const PUSH_TIMEOUT_MS = 110_000;
const CHECK_TIMEOUT_MS = 25_000;
/** Room for the items of one listing; NATS refuses messages over 1 MiB and the envelope needs some of it. */
const PAGE_BYTES = 700 * 1024;
const NO_FORGE = 'nothing was published: no forge is configured. The commits are kept in the project on the host.';

/** Pushes a session's commits to the forge, exactly once, and says so only after it read the branch back. */
@Injectable()
export class PublicationsService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger(PublicationsService.name);
  private readonly queue = new KeyedQueue();
  private readonly stopping = new AbortController();
  private background: Promise<void> = Promise.resolve();

  constructor(
    private readonly config: PublishServiceConfig,
    private readonly database: DataSource,
    private readonly publications: PublicationsRepository,
    private readonly projects: ProjectsService,
    @Inject(GIT_FORGE) private readonly forge: GitForge | null,
  ) {}

  /** Finishes what an earlier life of this service had begun. A forge that is slow does not keep the service from starting. */
  onApplicationBootstrap(): void {
    this.background = this.finishPending();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.background;
  }

  /**
   * Publishes the newest commit of a session. A forge that refuses gives a publication in `failed` with the error; it
   * can be retried. Throws `PUBLISH_NOTHING_COMMITTED`.
   */
  async publish({ sessionId, project }: PublishRequest): Promise<PublicationView> {
    const head = await this.newestCommit(sessionId, project);
    const row = await this.publications.insertOnce(await this.newPublication(sessionId, project, head));
    return this.attempt(row.publicationId as PublicationId);
  }

  /** Tries a failed publication again; one that is published stays as it is. Throws `PUBLICATION_UNKNOWN`. */
  async retry(publication: PublicationId): Promise<PublicationView> {
    await this.publications.get(publication);
    return this.attempt(publication);
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
      await this.forge.check(deadlineSignal(CHECK_TIMEOUT_MS, this.stopping.signal));
      return { forge: this.forge.name, isUsable: true, message: 'the forge can be published to' };
    } catch (e) {
      if (!isDomainError(e)) throw e;
      return { forge: this.forge.name, isUsable: false, message: `${e.message} ${e.remediation}` };
    }
  }

  private async newestCommit(sessionId: string, project: string): Promise<string> {
    const base = await this.database.getRepository(SessionBaseEntity).findOneBy({ sessionId, project });
    if (base?.head != null) return base.head;
    const message = `session ${sessionId} has made no commit in project "${project}"`;
    throw publishError('PUBLISH_NOTHING_COMMITTED', message, { session: sessionId });
  }

  private async newPublication(sessionId: string, project: string, commit: string): Promise<PublicationEntity> {
    const repository = await this.projects.open(project as ProjectId);
    const { branch: defaultBranch } = await repository.head();
    const last = await this.database
      .getRepository(CommitEntity)
      .findOne({ where: { sessionId }, order: { at: 'DESC' } });
    const { heldCount = 0, refusedCount = 0, held = [], refused = [] } = last?.view ?? {};
    return {
      publicationId: newId<PublicationId>('pub'),
      sessionId,
      project,
      state: 'pending',
      forge: this.forge?.name ?? 'none',
      branch: publishedBranch(this.config.branchPolicy, { sessionId, defaultBranch }),
      commit,
      url: null,
      isVerified: false,
      message: 'about to be published',
      error: null,
      attempts: 0,
      heldCount: heldCount + refusedCount,
      held: cutListing([...held, ...refused]),
      createdAt: new Date(),
      publishedAt: null,
    };
  }

  private async finishPending(): Promise<void> {
    try {
      for (const { publicationId } of await this.publications.pending()) {
        if (!this.stopping.signal.aborted) await this.attempt(publicationId as PublicationId);
      }
    } catch (e) {
      this.log.error('publications that were under way could not be finished', e);
    }
  }

  /** One try at a time per publication. The push itself is idempotent, so a try after a crash is safe. */
  private attempt(publication: PublicationId): Promise<PublicationView> {
    return this.queue.run(publication, async () => {
      const row = await this.publications.get(publication);
      if (row.state === 'published') return publicationView(row);
      const { forge } = this;
      const outcome: Partial<PublicationEntity> =
        forge === null
          ? { state: 'skipped', message: NO_FORGE }
          : { forge: forge.name, attempts: row.attempts + 1, ...(await this.push(forge, row)) };
      return publicationView(await this.publications.change(row, outcome));
    });
  }

  private async push(forge: GitForge, row: PublicationEntity): Promise<Partial<PublicationEntity>> {
    const signal = deadlineSignal(PUSH_TIMEOUT_MS, this.stopping.signal);
    try {
      const { url } = await forge.ensureRepository(row.project, signal);
      const message = await this.pushBranch(forge, row, signal);
      return { state: 'published', url, isVerified: true, message, error: null, publishedAt: new Date() };
    } catch (e) {
      // The service stops: the publication stays pending, and the next start finishes it.
      if (this.stopping.signal.aborted) throw e;
      if (!isDomainError(e)) this.log.error(`pushing ${row.project} failed unexpectedly`, e);
      const error = errorView(toDomainError(e));
      return { state: 'failed', message: error.message, error };
    }
  }

  /** Resolves, with what to tell people, once the branch on the forge has the commit. Throws what the forge throws. */
  private async pushBranch(forge: GitForge, row: PublicationEntity, signal: AbortSignal): Promise<string> {
    const { project, branch, commit } = row;
    const repository = await this.projects.open(project as ProjectId);
    try {
      await forge.push({ repositoryPath: repository.path, commit, branch, project }, signal);
      return `published to ${forge.name} and read back`;
    } catch (e) {
      const found = hasCode(e, 'FORGE_BRANCH_MOVED') ? toDomainError(e).details['found'] : null;
      // Another session that went on from this commit was published first.
      if (typeof found === 'string' && (await repository.standsOn(found, commit, signal))) {
        return `already on ${forge.name}: branch ${branch} is at ${found.slice(0, 12)}, which stands on this commit`;
      }
      throw e;
    }
  }
}
