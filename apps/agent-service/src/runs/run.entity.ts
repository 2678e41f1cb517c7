import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { ConfirmationPolicy, RunState } from '@inquest/contracts-agent';
import type { ErrorView } from '@inquest/contracts-base';

@Entity({ name: 'run' })
@Index('UQ_run_request', ['requestId'], { unique: true })
@Index('IDX_run_session', ['sessionId', 'startedAt'])
export class RunEntity {
  @PrimaryColumn({ name: 'run_id', type: 'varchar', length: 64, primaryKeyConstraintName: 'PK_run' })
  runId!: string;
  @Column({ name: 'request_id', type: 'varchar', length: 64, nullable: true })
  requestId!: string | null;
  @Column({ name: 'session_id', type: 'varchar', length: 64 })
  sessionId!: string;
  @Column({ type: 'varchar', length: 16 })
  state!: RunState;
  @Column({ type: 'text' })
  prompt!: string;
  @Column({ type: 'text' })
  summary!: string;
  @Column({ type: 'int' })
  turns!: number;
  @Column({ name: 'close_when_done', type: 'boolean' })
  closeWhenDone!: boolean;
  /** What a person must approve of in it, besides what the session says. */
  @Column({ type: 'jsonb', nullable: true })
  confirm!: ConfirmationPolicy | null;
  @Column({ type: 'jsonb', nullable: true })
  error!: ErrorView | null;
  @Column({ name: 'started_at', type: 'timestamptz', precision: 3 })
  startedAt!: Date;
  @Column({ name: 'ended_at', type: 'timestamptz', precision: 3, nullable: true })
  endedAt!: Date | null;
}
