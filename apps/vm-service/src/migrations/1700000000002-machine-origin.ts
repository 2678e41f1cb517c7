import type { MigrationInterface, QueryRunner } from 'typeorm';

export class MachineOrigin1700000000002 implements MigrationInterface {
  readonly name = 'MachineOrigin1700000000002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "vm"."machine" ADD "origin" varchar(8)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "vm"."machine" DROP COLUMN "origin"`);
  }
}
