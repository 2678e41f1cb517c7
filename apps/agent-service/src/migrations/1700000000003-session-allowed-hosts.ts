import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SessionAllowedHosts1700000000003 implements MigrationInterface {
  readonly name = 'SessionAllowedHosts1700000000003';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "agent"."session" ADD "allowed_hosts" jsonb NOT NULL DEFAULT '[]'`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "agent"."session" DROP COLUMN "allowed_hosts"`);
  }
}
