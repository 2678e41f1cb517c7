import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SessionsRunsTranscript1700000000001 implements MigrationInterface {
  readonly name = 'SessionsRunsTranscript1700000000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "agent"."session" (
        "session_id" varchar(64) CONSTRAINT "PK_session" PRIMARY KEY,
        "request_id" varchar(64),
        "project" varchar(64) NOT NULL,
        "chat" varchar(64),
        "image" varchar(64) NOT NULL,
        "image_version" int,
        "memory_mib" int,
        "mode" varchar(16) NOT NULL,
        "state" varchar(16) NOT NULL,
        "reason" varchar(64) NOT NULL,
        "message" text NOT NULL,
        "machine_id" varchar(64),
        "current_run_id" varchar(64),
        "has_plan" boolean NOT NULL,
        "has_commit" boolean NOT NULL,
        "publish_on_close" boolean NOT NULL,
        "author" jsonb NOT NULL,
        "verdict" jsonb,
        "publication" jsonb,
        "error" jsonb,
        "opened_at" timestamptz(3) NOT NULL,
        "closed_at" timestamptz(3)
      )`);
    await queryRunner.query(`CREATE UNIQUE INDEX "UQ_session_request" ON "agent"."session" ("request_id")`);
    await queryRunner.query(`CREATE INDEX "IDX_session_opened" ON "agent"."session" ("opened_at", "session_id")`);
    await queryRunner.query(`
      CREATE TABLE "agent"."run" (
        "run_id" varchar(64) CONSTRAINT "PK_run" PRIMARY KEY,
        "request_id" varchar(64),
        "session_id" varchar(64) NOT NULL,
        "state" varchar(16) NOT NULL,
        "prompt" text NOT NULL,
        "summary" text NOT NULL,
        "turns" int NOT NULL,
        "close_when_done" boolean NOT NULL,
        "error" jsonb,
        "started_at" timestamptz(3) NOT NULL,
        "ended_at" timestamptz(3)
      )`);
    await queryRunner.query(`CREATE UNIQUE INDEX "UQ_run_request" ON "agent"."run" ("request_id")`);
    await queryRunner.query(`CREATE INDEX "IDX_run_session" ON "agent"."run" ("session_id", "started_at")`);
    await queryRunner.query(`
      CREATE TABLE "agent"."transcript_entry" (
        "session_id" varchar(64) NOT NULL,
        "sequence" int NOT NULL,
        "run_id" varchar(64),
        "type" varchar(32) NOT NULL,
        "verb" varchar(64),
        "outcome" varchar(16),
        "duration_ms" int,
        "at" timestamptz(3) NOT NULL,
        CONSTRAINT "PK_transcript_entry" PRIMARY KEY ("session_id", "sequence")
      )`);
    await queryRunner.query(`CREATE INDEX "IDX_transcript_entry_verb" ON "agent"."transcript_entry" ("verb", "at")`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE "agent"."transcript_entry", "agent"."run", "agent"."session"`);
  }
}
