import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, LessThan, LessThanOrEqual, Not, type FindOptionsWhere, type Repository } from 'typeorm';
import { publishError, publishEvents, type ListPublicationsRequest } from '@inquest/contracts-publish';
import type { PublicationId } from '@inquest/kernel';
import { decodeCursor, encodeCursor, Outbox, type Page } from '@inquest/persistence';
import { PublicationEntity } from './publication.entity';
import { publicationView } from './publication-view';

/** Those that are worked on before it is looked again. */
const MAX_DUE = 100;

/** Rows of publications. Every change goes with its event. */
@Injectable()
export class PublicationsRepository {
  private readonly rows: Repository<PublicationEntity>;

  constructor(
    private readonly database: DataSource,
    private readonly outbox: Outbox,
  ) {
    this.rows = database.getRepository(PublicationEntity);
  }

  /** Inserts, or gives back the publication that this commit of the session has already. */
  async insertOnce(row: PublicationEntity): Promise<PublicationEntity> {
    await this.rows.createQueryBuilder().insert().values(row).orIgnore().execute();
    return this.rows.findOneByOrFail({ sessionId: row.sessionId, commit: row.commit });
  }

  /** Throws `PUBLICATION_UNKNOWN`. */
  async get(publication: PublicationId): Promise<PublicationEntity> {
    const row = await this.rows.findOneBy({ publicationId: publication });
    if (row !== null) return row;
    throw publishError('PUBLICATION_UNKNOWN', `no publication ${publication} is known`, { publication });
  }

  /** Those that were begun and not ended, and failed ones whose time has come: the oldest of them. */
  due(now: Date): Promise<PublicationEntity[]> {
    const where = [{ state: 'pending' as const }, { state: 'failed' as const, nextAttemptAt: LessThanOrEqual(now) }];
    return this.rows.find({ where, order: { createdAt: 'ASC' }, take: MAX_DUE });
  }

  /** When the next failed one is to be tried again; null when none is. */
  async nextAttemptAt(): Promise<Date | null> {
    const where = { state: 'failed' as const, nextAttemptAt: Not(IsNull()) };
    const [next] = await this.rows.find({ where, order: { nextAttemptAt: 'ASC' }, take: 1 });
    return next?.nextAttemptAt ?? null;
  }

  /** Newest first. Throws `CURSOR_INVALID`. */
  async page({ limit, nextToken, ...filter }: ListPublicationsRequest): Promise<Page<PublicationEntity>> {
    const wanted = wantedBy(filter);
    const cursor = decodeCursor(nextToken);
    const at = cursor === null ? null : new Date(cursor.at);
    const where =
      cursor === null || at === null
        ? wanted
        : [
            { ...wanted, createdAt: LessThan(at) },
            { ...wanted, createdAt: at, publicationId: LessThan(cursor.id) },
          ];
    const found = await this.rows.find({ where, order: { createdAt: 'DESC', publicationId: 'DESC' }, take: limit + 1 });
    const items = found.slice(0, limit);
    return { items, nextToken: found.length > limit ? tokenAfter(items.at(-1)) : null };
  }

  /** Throws what the database throws; then neither row nor event exists. */
  async change(row: PublicationEntity, change: Partial<PublicationEntity>): Promise<PublicationEntity> {
    const changed = { ...row, ...change };
    await this.database.transaction(async (manager) => {
      await manager.update(PublicationEntity, { publicationId: row.publicationId }, change);
      const body = { publication: publicationView(changed), atMs: Date.now() };
      await this.outbox.add(manager, publishEvents.publicationChanged, [row.publicationId], body);
    });
    return changed;
  }
}

/** The properties that rows must have; what is null is not asked for. */
const wantedBy = ({
  project,
  sessionId,
  state,
}: Pick<ListPublicationsRequest, 'project' | 'sessionId' | 'state'>): FindOptionsWhere<PublicationEntity> => ({
  ...(project === null ? {} : { project }),
  ...(sessionId === null ? {} : { sessionId }),
  ...(state === null ? {} : { state }),
});

/** The token of the page that follows `last`. */
export const tokenAfter = (last: PublicationEntity | undefined): string | null =>
  last === undefined ? null : encodeCursor({ at: last.createdAt.getTime(), id: last.publicationId });
