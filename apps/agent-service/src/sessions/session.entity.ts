import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { ErrorView, PersonView } from '@inquest/contracts-base';
import type { ConfirmationPolicy, SessionMode, SessionState } from '@inquest/contracts-agent';
import type { PublicationView } from '@inquest/contracts-publish';
import type { VerdictView } from '@inquest/contracts-vm';

@Entity({ name: 'session' })
@Index('UQ_session_request', ['requestId'], { unique: true })
@Index('IDX_session_opened', ['openedAt', 'sessionId'])
export class SessionEntity {
  @PrimaryColumn({ name: 'session_id', type: 'varchar', length: 64, primaryKeyConstraintName: 'PK_session' })
  sessionId!: string;
  @Column({ name: 'request_id', type: 'varchar', length: 64, nullable: true })
  requestId!: string | null;
  @Column({ type: 'varchar', length: 64 })
  project!: string;
  @Column({ type: 'varchar', length: 64, nullable: true })
  chat!: string | null;
  @Column({ type: 'varchar', length: 64 })
  image!: string;
  @Column({ name: 'image_version', type: 'int', nullable: true })
  imageVersion!: number | null;
  @Column({ name: 'memory_mib', type: 'int', nullable: true })
  memoryMib!: number | null;
  @Column({ name: 'allowed_hosts', type: 'jsonb' })
  allowedHosts!: string[];
  /** What a person must approve of in each of its runs; null: nothing. */
  @Column({ type: 'jsonb', nullable: true })
  confirm!: ConfirmationPolicy | null;
  @Column({ type: 'varchar', length: 16 })
  mode!: SessionMode;
  @Column({ type: 'varchar', length: 16 })
  state!: SessionState;
  @Column({ type: 'varchar', length: 64 })
  reason!: string;
  @Column({ type: 'text' })
  message!: string;
  @Column({ name: 'machine_id', type: 'varchar', length: 64, nullable: true })
  machineId!: string | null;
  @Column({ name: 'current_run_id', type: 'varchar', length: 64, nullable: true })
  currentRunId!: string | null;
  /** A plan was recorded: verbs that change the machine are allowed. */
  @Column({ name: 'has_plan', type: 'boolean' })
  hasPlan!: boolean;
  /** Asked to close: publish first or not. Kept so that a restart finishes what was begun. */
  @Column({ name: 'publish_on_close', type: 'boolean' })
  publishOnClose!: boolean;
  @Column({ type: 'jsonb' })
  author!: PersonView;
  @Column({ type: 'jsonb', nullable: true })
  verdict!: VerdictView | null;
  @Column({ type: 'jsonb', nullable: true })
  publication!: PublicationView | null;
  @Column({ type: 'jsonb', nullable: true })
  error!: ErrorView | null;
  @Column({ name: 'opened_at', type: 'timestamptz', precision: 3 })
  openedAt!: Date;
  @Column({ name: 'closed_at', type: 'timestamptz', precision: 3, nullable: true })
  closedAt!: Date | null;
}
