import type { MigrationInterface, QueryRunner } from 'typeorm';

export class MachineEgress1700000000003 implements MigrationInterface {
  readonly name = 'MachineEgress1700000000003';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "vm"."machine"
        ADD "allowed_hosts" jsonb NOT NULL DEFAULT '[]',
        ADD "has_local_model" boolean NOT NULL DEFAULT false,
        ADD "is_egress_up" boolean NOT NULL DEFAULT false`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "vm"."machine" DROP COLUMN "allowed_hosts", DROP COLUMN "has_local_model", DROP COLUMN "is_egress_up"`);
  }
}
