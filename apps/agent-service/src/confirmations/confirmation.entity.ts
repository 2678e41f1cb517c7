import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { ConfirmationOrigin, ConfirmationState } from '@inquest/contracts-agent';

@Entity({ name: 'confirmation' })
@Index('UQ_confirmation_open', ['runId'], { unique: true, where: `"state" = 'open'` })
@Index('IDX_confirmation_asked', ['askedAt', 'confirmationId'])
@Index('IDX_confirmation_state', ['state', 'askedAt', 'confirmationId'])
@Index('IDX_confirmation_run', ['runId', 'askedAt'])
export class ConfirmationEntity {
  @PrimaryColumn({ name: 'confirmation_id', type: 'varchar', length: 64, primaryKeyConstraintName: 'PK_confirmation' })
  confirmationId!: string;
  @Column({ name: 'session_id', type: 'varchar', length: 64 })
  sessionId!: string;
  @Column({ type: 'varchar', length: 64 })
  project!: string;
  @Column({ name: 'run_id', type: 'varchar', length: 64 })
  runId!: string;
  @Column({ name: 'call_id', type: 'varchar', length: 64 })
  callId!: string;
  @Column({ type: 'varchar', length: 64 })
  verb!: string;
  @Column({ name: 'arguments_digest', type: 'varchar', length: 71 })
  argumentsDigest!: string;
  @Column({ type: 'varchar', length: 16 })
  origin!: ConfirmationOrigin;
  @Column({ type: 'text' })
  question!: string;
  @Column({ type: 'jsonb' })
  choices!: string[];
  @Column({ name: 'arguments_text', type: 'text' })
  argumentsText!: string;
  @Column({ name: 'arguments_length', type: 'int' })
  argumentsLength!: number;
  @Column({ type: 'varchar', length: 16 })
  state!: ConfirmationState;
  @Column({ type: 'text', nullable: true })
  choice!: string | null;
  @Column({ type: 'text' })
  reason!: string;
  @Column({ name: 'answered_by', type: 'varchar', length: 64, nullable: true })
  by!: string | null;
  /** Of the answer, so that the same one can be told from a second one. */
  @Column({ name: 'answer_request_id', type: 'varchar', length: 64, nullable: true })
  answerRequestId!: string | null;
  @Column({ name: 'asked_at', type: 'timestamptz', precision: 3 })
  askedAt!: Date;
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;
  @Column({ name: 'ended_at', type: 'timestamptz', precision: 3, nullable: true })
  endedAt!: Date | null;
}
