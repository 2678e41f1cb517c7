import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** One row per transcript line, for querying; the line itself is the record. */
@Entity({ name: 'transcript_entry' })
@Index('IDX_transcript_entry_verb', ['verb', 'at'])
export class TranscriptEntryEntity {
  @PrimaryColumn({ name: 'session_id', type: 'varchar', length: 64, primaryKeyConstraintName: 'PK_transcript_entry' })
  sessionId!: string;
  @PrimaryColumn({ type: 'int', primaryKeyConstraintName: 'PK_transcript_entry' })
  sequence!: number;
  @Column({ name: 'run_id', type: 'varchar', length: 64, nullable: true })
  runId!: string | null;
  @Column({ type: 'varchar', length: 32 })
  type!: string;
  @Column({ type: 'varchar', length: 64, nullable: true })
  verb!: string | null;
  @Column({ type: 'varchar', length: 16, nullable: true })
  outcome!: string | null;
  @Column({ name: 'duration_ms', type: 'int', nullable: true })
  durationMs!: number | null;
  @Column({ type: 'timestamptz', precision: 3 })
  at!: Date;
}
