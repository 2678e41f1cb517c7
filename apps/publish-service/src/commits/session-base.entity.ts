import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What a session's guest tree began as, and moves to with each of its commits. */
@Entity({ name: 'session_base' })
export class SessionBaseEntity {
  @PrimaryColumn({ name: 'session_id', type: 'varchar', length: 64, primaryKeyConstraintName: 'PK_session_base' })
  sessionId!: string;
  @Column({ type: 'varchar', length: 64 })
  project!: string;
  /** A tree or commit of the project's repository; null: the project was empty. */
  @Column({ type: 'varchar', length: 40, nullable: true })
  base!: string | null;
  /** The session's newest commit; null while it made none. */
  @Column({ type: 'varchar', length: 40, nullable: true })
  head!: string | null;
}
