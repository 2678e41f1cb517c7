import type { MigrationInterface, QueryRunner } from 'typeorm';

export class MachinePeers1700000000007 implements MigrationInterface {
  readonly name = 'MachinePeers1700000000007';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "vm"."machine" ADD "peer" jsonb`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "vm"."machine" DROP COLUMN "peer"`);
  }
}
