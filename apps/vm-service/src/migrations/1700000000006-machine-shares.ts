import type { MigrationInterface, QueryRunner } from 'typeorm';

export class MachineShares1700000000006 implements MigrationInterface {
  readonly name = 'MachineShares1700000000006';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "vm"."machine" ADD "shares" jsonb NOT NULL DEFAULT '[]'`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "vm"."machine" DROP COLUMN "shares"`);
  }
}
