import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ProjectsCommitsPublications1700000000001 implements MigrationInterface {
  readonly name = 'ProjectsCommitsPublications1700000000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "publish"."project" (
        "project" varchar(64) CONSTRAINT "PK_project" PRIMARY KEY,
        "created_at" timestamptz(3) NOT NULL
      )`);
    await queryRunner.query(`
      CREATE TABLE "publish"."session_base" (
        "session_id" varchar(64) CONSTRAINT "PK_session_base" PRIMARY KEY,
        "project" varchar(64) NOT NULL,
        "base" varchar(40),
        "head" varchar(40)
      )`);
    await queryRunner.query(`
      CREATE TABLE "publish"."commit" (
        "request_id" varchar(64) CONSTRAINT "PK_commit" PRIMARY KEY,
        "session_id" varchar(64) NOT NULL,
        "project" varchar(64) NOT NULL,
        "view" jsonb NOT NULL,
        "at" timestamptz(3) NOT NULL
      )`);
    await queryRunner.query(`CREATE INDEX "IDX_commit_session" ON "publish"."commit" ("session_id", "at")`);
    await queryRunner.query(`
      CREATE TABLE "publish"."publication" (
        "publication_id" varchar(64) CONSTRAINT "PK_publication" PRIMARY KEY,
        "session_id" varchar(64) NOT NULL,
        "project" varchar(64) NOT NULL,
        "state" varchar(16) NOT NULL,
        "forge" varchar(32) NOT NULL,
        "branch" varchar(256) NOT NULL,
        "commit" varchar(40) NOT NULL,
        "url" text,
        "is_verified" boolean NOT NULL,
        "message" text NOT NULL,
        "error" jsonb,
        "attempts" int NOT NULL,
        "held_count" int NOT NULL,
        "held" jsonb NOT NULL,
        "created_at" timestamptz(3) NOT NULL,
        "published_at" timestamptz(3)
      )`);
    await queryRunner.query(
      `CREATE UNIQUE INDEX "UQ_publication_commit" ON "publish"."publication" ("session_id", "commit")`,
    );
    await queryRunner.query(
      `CREATE INDEX "IDX_publication_created" ON "publish"."publication" ("created_at", "publication_id")`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `DROP TABLE "publish"."publication", "publish"."commit", "publish"."session_base", "publish"."project"`,
    );
  }
}
