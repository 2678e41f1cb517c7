import type { MigrationInterface, QueryRunner } from 'typeorm';

export class MachineClock1700000000005 implements MigrationInterface {
  readonly name = 'MachineClock1700000000005';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "vm"."machine" ADD "rtc_base" timestamptz(3)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "vm"."machine" DROP COLUMN "rtc_base"`);
  }
}
