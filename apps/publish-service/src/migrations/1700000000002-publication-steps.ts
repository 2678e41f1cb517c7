import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a publication does at the forge besides its push, and when a failed one is tried again. */
export class PublicationSteps1700000000002 implements MigrationInterface {
  readonly name = 'PublicationSteps1700000000002';

  async up(queryRunner: QueryRunner): Promise<void> {
    // Until now every branch was the one that the commits were made on, or nobody was told of another.
    await queryRunner.query(`
      ALTER TABLE "publish"."publication"
        ADD "base_branch" varchar(256) NOT NULL DEFAULT 'main',
        ADD "title" text NOT NULL DEFAULT '',
        ADD "report" jsonb,
        ADD "steps" jsonb NOT NULL DEFAULT '[]',
        ADD "release" jsonb,
        ADD "next_attempt_at" timestamptz(3)`);
    await queryRunner.query(
      `CREATE INDEX "IDX_publication_next_attempt" ON "publish"."publication" ("next_attempt_at")`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX "publish"."IDX_publication_next_attempt"`);
    await queryRunner.query(`
      ALTER TABLE "publish"."publication"
        DROP COLUMN "base_branch", DROP COLUMN "title", DROP COLUMN "report", DROP COLUMN "steps",
        DROP COLUMN "release", DROP COLUMN "next_attempt_at"`);
  }
}
