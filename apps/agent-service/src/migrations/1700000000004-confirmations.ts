import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Confirmations1700000000004 implements MigrationInterface {
  readonly name = 'Confirmations1700000000004';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "agent"."confirmation" (
        "confirmation_id" varchar(64) CONSTRAINT "PK_confirmation" PRIMARY KEY,
        "session_id" varchar(64) NOT NULL,
        "project" varchar(64) NOT NULL,
        "run_id" varchar(64) NOT NULL,
        "call_id" varchar(64) NOT NULL,
        "verb" varchar(64) NOT NULL,
        "arguments_digest" varchar(71) NOT NULL,
        "origin" varchar(16) NOT NULL,
        "question" text NOT NULL,
        "choices" jsonb NOT NULL,
        "arguments_text" text NOT NULL,
        "arguments_length" int NOT NULL,
        "state" varchar(16) NOT NULL,
        "choice" text,
        "reason" text NOT NULL,
        "answered_by" varchar(64),
        "answer_request_id" varchar(64),
        "asked_at" timestamptz(3) NOT NULL,
        "expires_at" timestamptz(3) NOT NULL,
        "ended_at" timestamptz(3)
      )`);
    await queryRunner.query(
      `CREATE UNIQUE INDEX "UQ_confirmation_open" ON "agent"."confirmation" ("run_id") WHERE "state" = 'open'`,
    );
    await queryRunner.query(
      `CREATE INDEX "IDX_confirmation_asked" ON "agent"."confirmation" ("asked_at", "confirmation_id")`,
    );
    await queryRunner.query(
      `CREATE INDEX "IDX_confirmation_state" ON "agent"."confirmation" ("state", "asked_at", "confirmation_id")`,
    );
    await queryRunner.query(`CREATE INDEX "IDX_confirmation_run" ON "agent"."confirmation" ("run_id", "asked_at")`);
    for (const table of ['session', 'run']) {
      await queryRunner.query(`ALTER TABLE "agent"."${table}" ADD "confirm" jsonb`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of ['run', 'session']) {
      await queryRunner.query(`ALTER TABLE "agent"."${table}" DROP COLUMN "confirm"`);
    }
    await queryRunner.query(`DROP TABLE "agent"."confirmation"`);
  }
}
