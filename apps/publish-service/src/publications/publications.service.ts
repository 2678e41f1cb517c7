import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource, LessThan, type EntityManager, type Repository } from 'typeorm';
import {
  MAX_LISTED_PATHS,
  publishError,
  publishEvents,
  type ForgeCheckView,
  type HeldView,
  type PublicationList,
  type PublicationView,
  type PublishRequest,
} from '@inquest/contracts-publish';
import {
  isDomainError,
  KeyedQueue,
  newId,
  toDomainError,
  type ProjectId,
  type PublicationId,
  type SessionId,
} from '@inquest/kernel';
import { GIT_FORGE, type GitForge } from '@inquest/git-forge';
import { decodeCursor, encodeCursor, Outbox } from '@inquest/persistence';
import { CommitEntity } from '../commits/commit.entity';
import { SessionBaseEntity } from '../commits/session-base.entity';
import { ProjectsService } from '../projects/projects.service';
import { PublicationEntity } from './publication.entity';

const PUSH_TIMEOUT_MS = 110_000;
const CHECK_TIMEOUT_MS = 25_000;

/** Pushes a session's commits to the forge, exactly once, and says so only after it read the branch back. */
@Injectable()
export class PublicationsService implements OnApplicationBootstrap {
  private readonly log = new Logger(PublicationsService.name);
  private readonly rows: Repository<PublicationEntity>;
  private readonly queue = new KeyedQueue();

  constructor(
    private readonly database: DataSource,
    private readonly outbox: Outbox,
    private readonly projects: ProjectsService,
    @Inject(GIT_FORGE) private readonly forge: GitForge | null,
  ) {
    this.rows = database.getRepository(PublicationEntity);
  }

  /** Finishes what an earlier life of this service had begun. */
  async onApplicationBootstrap(): Promise<void> {
    for (const row of await this.rows.findBy({ state: 'pending' })) {
      await this.attempt(row.publicationId as PublicationId).catch((e: unknown) =>
        this.log.error(`publication ${row.publicationId} could not be finished`, e),
      );
    }
  }

  /**
   * Publishes the newest commit of a session. A forge that refuses gives a publication in `failed` with the error; it
   * can be retried. Throws `PUBLISH_NOTHING_COMMITTED`.
   */
  async publish({ sessionId, project }: PublishRequest): Promise<PublicationView> {
    const base = await this.database.getRepository(SessionBaseEntity).findOneBy({ sessionId });
    if (base?.head == null || base.project !== project) {
      throw publishError(
        'PUBLISH_NOTHING_COMMITTED',
        `session ${sessionId} has made no commit in project "${project}"`,
        {
          session: sessionId,
        },
      );
    }
    const id = await this.create(sessionId as SessionId, project as ProjectId, base.head);
    return this.attempt(id);
  }

  /** Tries a failed publication again; one that is published stays as it is. Throws `PUBLICATION_UNKNOWN`. */
  async retry(publication: PublicationId): Promise<PublicationView> {
    await this.get(publication);
    return this.attempt(publication);
  }

  /** Throws `PUBLICATION_UNKNOWN`. */
  async show(publication: PublicationId): Promise<PublicationView> {
    return publicationView(await this.get(publication));
  }

  /** Newest first. */
  async list(limit: number, nextToken: string | null): Promise<PublicationList> {
    const cursor = decodeCursor(nextToken);
    const at = cursor === null ? null : new Date(cursor.at);
    const where =
      cursor === null || at === null
        ? {}
        : [{ createdAt: LessThan(at) }, { createdAt: at, publicationId: LessThan(cursor.id) }];
    const found = await this.rows.find({ where, order: { createdAt: 'DESC', publicationId: 'DESC' }, take: limit + 1 });
    const items = found.slice(0, limit);
    const last = items.at(-1);
    return {
      items: items.map(publicationView),
      nextToken:
        found.length > limit && last ? encodeCursor({ at: last.createdAt.getTime(), id: last.publicationId }) : null,
    };
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

  /** The row for this commit, made once. */
  private async create(sessionId: SessionId, project: ProjectId, commit: string): Promise<PublicationId> {
    const repository = await this.projects.open(project);
    const { branch } = await repository.head();
    const commits = await this.database
      .getRepository(CommitEntity)
      .find({ where: { sessionId }, order: { at: 'DESC' }, take: 1 });
    const view = commits[0]?.view;
    const held: HeldView[] = [...(view?.held ?? []), ...(view?.refused ?? [])];
    await this.rows
      .createQueryBuilder()
      .insert()
      .values({
        publicationId: newId<PublicationId>('pub'),
        sessionId,
        project,
        state: 'pending',
        forge: this.forge?.name ?? 'none',
        branch,
        commit,
        url: null,
        isVerified: false,
        message: 'about to be published',
        error: null,
        attempts: 0,
        heldCount: (view?.heldCount ?? 0) + (view?.refusedCount ?? 0),
        held: held.slice(0, MAX_LISTED_PATHS),
        createdAt: new Date(),
        publishedAt: null,
      })
      .orIgnore()
      .execute();
    const row = await this.rows.findOneByOrFail({ sessionId, commit });
    return row.publicationId as PublicationId;
  }

  /** One try at a time per publication. The push itself is idempotent, so a try after a crash is safe. */
  private attempt(publication: PublicationId): Promise<PublicationView> {
    return this.queue.run(publication, async () => {
      const row = await this.get(publication);
      if (row.state === 'published') return publicationView(row);
      if (this.forge === null) return this.change(row, { state: 'skipped', message: NO_FORGE });
      return this.change(row, { attempts: row.attempts + 1, ...(await this.push(this.forge, row)) });
    });
  }

  private async push(
    forge: GitForge,
    { project, branch, commit }: PublicationEntity,
  ): Promise<Partial<PublicationEntity>> {
    const signal = AbortSignal.timeout(PUSH_TIMEOUT_MS);
    try {
      const repository = await this.projects.open(project as ProjectId);
      const { url } = await forge.ensureRepository(project, signal);
      const { verified } = await forge.push({ repositoryPath: repository.path, commit, branch, project }, signal);
      const message = `published to ${forge.name} and read back`;
      return { state: 'published', url, isVerified: verified, message, error: null, publishedAt: new Date() };
    } catch (e) {
      const error = toDomainError(e);
      if (!isDomainError(e)) this.log.error(`pushing ${project} failed unexpectedly`, e);
      return { state: 'failed', message: error.message, error: error.toBody() };
    }
  }

  private async change(row: PublicationEntity, change: Partial<PublicationEntity>): Promise<PublicationView> {
    const changed = { ...row, ...change };
    await this.database.transaction(async (manager: EntityManager) => {
      await manager.update(PublicationEntity, { publicationId: row.publicationId }, change);
      const body = { publication: publicationView(changed), atMs: Date.now() };
      await this.outbox.add(manager, publishEvents.publicationChanged, [row.publicationId], body);
    });
    return publicationView(changed);
  }

  private async get(publication: PublicationId): Promise<PublicationEntity> {
    const row = await this.rows.findOneBy({ publicationId: publication });
    if (row === null)
      throw publishError('PUBLICATION_UNKNOWN', `no publication ${publication} is known`, { publication });
    return row;
  }
}

const NO_FORGE = 'nothing was published: no forge is configured. The commits are kept in the project on the host.';

const publicationView = (row: PublicationEntity): PublicationView => ({
  publicationId: row.publicationId,
  sessionId: row.sessionId,
  project: row.project,
  state: row.state,
  forge: row.forge,
  branch: row.branch,
  commit: row.commit,
  url: row.url,
  isVerified: row.isVerified,
  message: row.message,
  error: row.error,
  attempts: row.attempts,
  heldCount: row.heldCount,
  held: row.held,
  createdAtMs: row.createdAt.getTime(),
  publishedAtMs: row.publishedAt?.getTime() ?? null,
});
