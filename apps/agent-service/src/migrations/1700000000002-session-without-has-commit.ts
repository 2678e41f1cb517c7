import type { MigrationInterface, QueryRunner } from 'typeorm';

/** publish-service knows which sessions made commits; a copy of that could only be wrong. */
export class SessionWithoutHasCommit1700000000002 implements MigrationInterface {
  readonly name = 'SessionWithoutHasCommit1700000000002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "agent"."session" DROP COLUMN "has_commit"`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "agent"."session" ADD COLUMN "has_commit" boolean NOT NULL DEFAULT true`);
  }
}
