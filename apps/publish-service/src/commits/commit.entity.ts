import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { CommitView } from '@inquest/contracts-publish';

/** One answered git_commit. The same request id gets the same answer again. */
@Entity({ name: 'commit' })
@Index('IDX_commit_session', ['sessionId', 'at'])
export class CommitEntity {
  @PrimaryColumn({ name: 'request_id', type: 'varchar', length: 64, primaryKeyConstraintName: 'PK_commit' })
  requestId!: string;
  @Column({ name: 'session_id', type: 'varchar', length: 64 })
  sessionId!: string;
  @Column({ type: 'varchar', length: 64 })
  project!: string;
  @Column({ type: 'jsonb' })
  view!: CommitView;
  @Column({ type: 'timestamptz', precision: 3 })
  at!: Date;
}
