import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Machines1700000000001 implements MigrationInterface {
  readonly name = 'Machines1700000000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "vm"."machine" (
        "machine_id" varchar(64) CONSTRAINT "PK_machine" PRIMARY KEY,
        "request_id" varchar(64),
        "name" varchar(64),
        "node" varchar(64) NOT NULL,
        "image" varchar(64) NOT NULL,
        "image_version" int NOT NULL,
        "purpose" varchar(16) NOT NULL,
        "state" varchar(16) NOT NULL,
        "reason" varchar(64) NOT NULL,
        "message" text NOT NULL,
        "incarnation" int NOT NULL,
        "cpus" int NOT NULL,
        "memory_mib" int NOT NULL,
        "accelerator" varchar(32) NOT NULL,
        "has_screen" boolean NOT NULL,
        "owner" varchar(64),
        "verdict" jsonb,
        "is_removed" boolean NOT NULL,
        "created_at" timestamptz(3) NOT NULL,
        "ready_at" timestamptz(3),
        "ended_at" timestamptz(3)
      )`);
    await queryRunner.query(`CREATE UNIQUE INDEX "UQ_machine_request" ON "vm"."machine" ("request_id")`);
    await queryRunner.query(
      `CREATE UNIQUE INDEX "UQ_machine_live_name" ON "vm"."machine" ("name") WHERE "state" <> 'ended'`,
    );
    await queryRunner.query(`CREATE INDEX "IDX_machine_created" ON "vm"."machine" ("created_at")`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE "vm"."machine"`);
  }
}
