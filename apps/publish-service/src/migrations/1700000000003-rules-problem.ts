import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Why the project's own scratch rules had no part in a publication. */
export class RulesProblem1700000000003 implements MigrationInterface {
  readonly name = 'RulesProblem1700000000003';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "publish"."publication" ADD "rules_problem" jsonb`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "publish"."publication" DROP COLUMN "rules_problem"`);
  }
}
