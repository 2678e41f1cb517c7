import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type {
  HeldView,
  PublicationState,
  PublicationStepView,
  ReleaseView,
  SessionReport,
} from '@inquest/contracts-publish';
import type { ErrorView } from '@inquest/contracts-base';

@Entity({ name: 'publication' })
// The same commit of a session is published once, however often it is asked for.
@Index('UQ_publication_commit', ['sessionId', 'commit'], { unique: true })
@Index('IDX_publication_created', ['createdAt', 'publicationId'])
@Index('IDX_publication_next_attempt', ['nextAttemptAt'])
export class PublicationEntity {
  @PrimaryColumn({ name: 'publication_id', type: 'varchar', length: 64, primaryKeyConstraintName: 'PK_publication' })
  publicationId!: string;
  @Column({ name: 'session_id', type: 'varchar', length: 64 })
  sessionId!: string;
  @Column({ type: 'varchar', length: 64 })
  project!: string;
  @Column({ type: 'varchar', length: 16 })
  state!: PublicationState;
  @Column({ type: 'varchar', length: 32 })
  forge!: string;
  @Column({ type: 'varchar', length: 256 })
  branch!: string;
  @Column({ name: 'base_branch', type: 'varchar', length: 256 })
  baseBranch!: string;
  @Column({ type: 'varchar', length: 40 })
  commit!: string;
  @Column({ type: 'text' })
  title!: string;
  @Column({ type: 'jsonb', nullable: true })
  report!: SessionReport | null;
  @Column({ type: 'text', nullable: true })
  url!: string | null;
  @Column({ name: 'is_verified', type: 'boolean' })
  isVerified!: boolean;
  @Column({ type: 'text' })
  message!: string;
  @Column({ type: 'jsonb', nullable: true })
  error!: ErrorView | null;
  @Column({ type: 'int' })
  attempts!: number;
  /** When a failed one is tried again by itself. */
  @Column({ name: 'next_attempt_at', type: 'timestamptz', precision: 3, nullable: true })
  nextAttemptAt!: Date | null;
  @Column({ type: 'jsonb' })
  steps!: PublicationStepView[];
  @Column({ type: 'jsonb', nullable: true })
  release!: ReleaseView | null;
  @Column({ name: 'held_count', type: 'int' })
  heldCount!: number;
  @Column({ type: 'jsonb' })
  held!: HeldView[];
  @Column({ name: 'rules_problem', type: 'jsonb', nullable: true })
  rulesProblem!: ErrorView | null;
  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
  @Column({ name: 'published_at', type: 'timestamptz', precision: 3, nullable: true })
  publishedAt!: Date | null;
}
