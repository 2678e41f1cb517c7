import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { MachineOrigin, MachineState, StartPurpose, VerdictView } from '@inquest/contracts-vm';
import type { MachinePeer } from '../peers/machine-peer';
import type { MachineShare } from '../shares/machine-share';

@Entity({ name: 'machine' })
@Index('UQ_machine_request', ['requestId'], { unique: true })
@Index('UQ_machine_live_name', ['name'], { unique: true, where: `"state" <> 'ended'` })
// One machine at a time writes a working copy.
@Index('UQ_machine_maintenance', ['image', 'imageVersion'], {
  unique: true,
  where: `"purpose" = 'maintenance' AND "state" <> 'ended'`,
})
@Index('IDX_machine_created', ['createdAt'])
export class MachineEntity {
  @PrimaryColumn({ name: 'machine_id', type: 'varchar', length: 64, primaryKeyConstraintName: 'PK_machine' })
  machineId!: string;
  @Column({ name: 'request_id', type: 'varchar', length: 64, nullable: true })
  requestId!: string | null;
  @Column({ type: 'varchar', length: 64, nullable: true })
  name!: string | null;
  @Column({ type: 'varchar', length: 64 })
  node!: string;
  @Column({ type: 'varchar', length: 64 })
  image!: string;
  @Column({ name: 'image_version', type: 'int' })
  imageVersion!: number;
  @Column({ type: 'varchar', length: 16 })
  purpose!: StartPurpose;
  @Column({ type: 'varchar', length: 16 })
  state!: MachineState;
  @Column({ type: 'varchar', length: 64 })
  reason!: string;
  @Column({ type: 'text' })
  message!: string;
  @Column({ type: 'int' })
  incarnation!: number;
  @Column({ type: 'int' })
  cpus!: number;
  @Column({ name: 'memory_mib', type: 'int' })
  memoryMib!: number;
  @Column({ type: 'varchar', length: 32 })
  accelerator!: string;
  @Column({ name: 'has_screen', type: 'boolean' })
  hasScreen!: boolean;
  /** Null: the clock is the host's. */
  @Column({ name: 'rtc_base', type: 'timestamptz', precision: 3, nullable: true })
  rtcBase!: Date | null;
  @Column({ type: 'varchar', length: 8, nullable: true })
  origin!: MachineOrigin | null;
  @Column({ type: 'varchar', length: 64, nullable: true })
  owner!: string | null;
  @Column({ name: 'allowed_hosts', type: 'jsonb' })
  allowedHosts!: string[];
  @Column({ name: 'has_local_model', type: 'boolean' })
  hasLocalModel!: boolean;
  @Column({ name: 'is_egress_up', type: 'boolean' })
  isEgressUp!: boolean;
  /** What the next incarnation is given; the running one may have others. */
  @Column({ type: 'jsonb' })
  shares!: MachineShare[];
  /** Null: it has no network card. */
  @Column({ type: 'jsonb', nullable: true })
  peer!: MachinePeer | null;
  @Column({ type: 'jsonb', nullable: true })
  verdict!: VerdictView | null;
  @Column({ name: 'is_removed', type: 'boolean' })
  isRemoved!: boolean;
  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
  @Column({ name: 'ready_at', type: 'timestamptz', precision: 3, nullable: true })
  readyAt!: Date | null;
  @Column({ name: 'ended_at', type: 'timestamptz', precision: 3, nullable: true })
  endedAt!: Date | null;
}
