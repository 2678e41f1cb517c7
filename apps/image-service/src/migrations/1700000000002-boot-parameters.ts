import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a machine on a version is started with, kept with the version: a recipe may change, a version never does. */
export class BootParameters1700000000002 implements MigrationInterface {
  readonly name = 'BootParameters1700000000002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "image"."image_version"
        ADD COLUMN "kernel_arguments" jsonb NOT NULL DEFAULT '[]',
        ADD COLUMN "default_memory_mib" int NOT NULL DEFAULT 256,
        ADD COLUMN "has_screen" boolean NOT NULL DEFAULT false`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "image"."image_version"
        DROP COLUMN "kernel_arguments", DROP COLUMN "default_memory_mib", DROP COLUMN "has_screen"`);
  }
}
