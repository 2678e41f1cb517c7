import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Imports, working copies, retired and removed versions, and what the smoke gate runs, kept with each version. */
export class ImageLife1700000000003 implements MigrationInterface {
  readonly name = 'ImageLife1700000000003';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "image"."image_version"
        ADD COLUMN "description" text NOT NULL DEFAULT '',
        ADD COLUMN "origin" varchar(16) NOT NULL DEFAULT 'recipe',
        ADD COLUMN "source_digest" varchar(80),
        ADD COLUMN "unfreeze_reason" text,
        ADD COLUMN "smoke_checks" jsonb NOT NULL DEFAULT '[]',
        ADD COLUMN "required_cli" text,
        ADD COLUMN "packages" jsonb NOT NULL DEFAULT '[]',
        ADD COLUMN "is_removed" boolean NOT NULL DEFAULT false`);
    // Until now every build was recorded as a child of the version before it, from which it took nothing.
    await queryRunner.query(`UPDATE "image"."image_version" SET "parent_version" = NULL`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "image"."image_version"
        DROP COLUMN "description", DROP COLUMN "origin", DROP COLUMN "source_digest", DROP COLUMN "unfreeze_reason",
        DROP COLUMN "smoke_checks", DROP COLUMN "required_cli", DROP COLUMN "packages", DROP COLUMN "is_removed"`);
  }
}
