import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How long a freeze took, in its two parts that boot a machine. Unknown of versions that were frozen before. */
export class FreezeDurations1700000000005 implements MigrationInterface {
  readonly name = 'FreezeDurations1700000000005';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "image"."image_version" ADD "smoke_ms" int, ADD "template_ms" int`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "image"."image_version" DROP COLUMN "smoke_ms", DROP COLUMN "template_ms"`);
  }
}
