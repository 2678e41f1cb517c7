import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { ErrorView, OperationState } from '@inquest/contracts-base';

@Entity({ name: 'operation' })
// One operation at a time per image: the database decides between two that come at once.
@Index('UQ_operation_running', ['image'], { unique: true, where: `"state" = 'running'` })
export class OperationEntity {
  @PrimaryColumn({ name: 'operation_id', type: 'varchar', length: 64, primaryKeyConstraintName: 'PK_operation' })
  operationId!: string;
  @Column({ type: 'varchar', length: 64 })
  kind!: string;
  @Column({ type: 'varchar', length: 64 })
  image!: string;
  @Column({ name: 'image_version', type: 'int', nullable: true })
  imageVersion!: number | null;
  @Column({ type: 'varchar', length: 16 })
  state!: OperationState;
  @Column({ type: 'text' })
  step!: string;
  @Column({ type: 'int' })
  percent!: number;
  @Column({ type: 'jsonb', nullable: true })
  error!: ErrorView | null;
  @Column({ name: 'started_at', type: 'timestamptz', precision: 3 })
  startedAt!: Date;
  @Column({ name: 'ended_at', type: 'timestamptz', precision: 3, nullable: true })
  endedAt!: Date | null;
}
