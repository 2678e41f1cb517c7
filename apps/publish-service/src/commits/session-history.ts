import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { ProjectRepository } from '@inquest/work-tree';
import { CommitEntity } from './commit.entity';

/** A session's work on one project. */
export interface SessionWork {
  readonly sessionId: string;
  readonly project: string;
}

/** What is known of the commits that sessions made. */
@Injectable()
export class SessionHistory {
  constructor(private readonly database: DataSource) {}

  /**
   * The commit that the session's first one stands on, which is where its work began; null when it stands on none, or
   * the session made no commit.
   */
  async commitBefore(
    repository: ProjectRepository,
    { sessionId, project }: SessionWork,
    signal: AbortSignal,
  ): Promise<string | null> {
    const made = await this.database
      .getRepository(CommitEntity)
      .createQueryBuilder('made')
      .where({ sessionId, project })
      .andWhere(`"made"."view" ->> 'commit' IS NOT NULL`)
      .orderBy('"made"."at"', 'ASC')
      .limit(1)
      .getOne();
    return made?.view.commit == null ? null : repository.parentOf(made.view.commit, signal);
  }
}
