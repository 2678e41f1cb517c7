import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Images1700000000001 implements MigrationInterface {
  readonly name = 'Images1700000000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "image"."image_version" (
        "name" varchar(64) NOT NULL,
        "version" int NOT NULL,
        "state" varchar(16) NOT NULL,
        "message" text NOT NULL,
        "digest" varchar(80),
        "size_bytes" bigint,
        "recipe_digest" varchar(128) NOT NULL,
        "kernel_version" varchar(128) NOT NULL,
        "agent_version" varchar(64) NOT NULL,
        "parent_version" int,
        "checks" jsonb NOT NULL,
        "sealed_files" jsonb NOT NULL,
        "created_at" timestamptz(3) NOT NULL,
        "frozen_at" timestamptz(3),
        "verified_at" timestamptz(3),
        CONSTRAINT "PK_image_version" PRIMARY KEY ("name", "version")
      )`);
    await queryRunner.query(`
      CREATE TABLE "image"."operation" (
        "operation_id" varchar(64) CONSTRAINT "PK_operation" PRIMARY KEY,
        "kind" varchar(64) NOT NULL,
        "image" varchar(64) NOT NULL,
        "image_version" int,
        "state" varchar(16) NOT NULL,
        "step" text NOT NULL,
        "percent" int NOT NULL,
        "error" jsonb,
        "started_at" timestamptz(3) NOT NULL,
        "ended_at" timestamptz(3)
      )`);
    await queryRunner.query(
      `CREATE UNIQUE INDEX "UQ_operation_running" ON "image"."operation" ("image") WHERE "state" = 'running'`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE "image"."operation", "image"."image_version"`);
  }
}
