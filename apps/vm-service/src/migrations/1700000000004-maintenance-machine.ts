import type { MigrationInterface, QueryRunner } from 'typeorm';

/** One machine at a time writes a working copy: the database decides between two that come at once. */
export class MaintenanceMachine1700000000004 implements MigrationInterface {
  readonly name = 'MaintenanceMachine1700000000004';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE UNIQUE INDEX "UQ_machine_maintenance" ON "vm"."machine" ("image", "image_version")
        WHERE "purpose" = 'maintenance' AND "state" <> 'ended'`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX "vm"."UQ_machine_maintenance"`);
  }
}
