import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Name of the outbox table in every schema. */
export const OUTBOX_TABLE = 'outbox_event';

/** The migration that makes the outbox table in a service's schema. Comes first in the list of its migrations. */
export function outboxMigration(schema: string): new () => MigrationInterface {
  return class OutboxEvent1700000000000 implements MigrationInterface {
    readonly name = 'OutboxEvent1700000000000';

    async up(queryRunner: QueryRunner): Promise<void> {
      // The body is text, not jsonb: Postgres refuses U+0000 in jsonb, and guests print what they like.
      await queryRunner.query(`
        CREATE TABLE "${schema}"."${OUTBOX_TABLE}" (
          "id" bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT "PK_outbox_event" PRIMARY KEY,
          "message_id" uuid NOT NULL DEFAULT gen_random_uuid(),
          "subject" varchar(512) NOT NULL,
          "body" text NOT NULL,
          "trace_id" varchar(64),
          "created_at" timestamptz(3) NOT NULL DEFAULT now()
        )`);
    }

    async down(queryRunner: QueryRunner): Promise<void> {
      await queryRunner.query(`DROP TABLE "${schema}"."${OUTBOX_TABLE}"`);
    }
  };
}
