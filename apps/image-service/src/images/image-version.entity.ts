import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ImageState, SealedFileView, SmokeCheckView } from '@inquest/contracts-image';

@Entity({ name: 'image_version' })
export class ImageVersionEntity {
  @PrimaryColumn({ type: 'varchar', length: 64, primaryKeyConstraintName: 'PK_image_version' })
  name!: string;
  @PrimaryColumn({ type: 'int', primaryKeyConstraintName: 'PK_image_version' })
  version!: number;
  @Column({ type: 'varchar', length: 16 })
  state!: ImageState;
  @Column({ type: 'text' })
  message!: string;
  @Column({ type: 'varchar', length: 80, nullable: true })
  digest!: string | null;
  @Column({ name: 'size_bytes', type: 'bigint', nullable: true })
  sizeBytes!: string | null;
  @Column({ name: 'recipe_digest', type: 'varchar', length: 128 })
  recipeDigest!: string;
  @Column({ name: 'kernel_version', type: 'varchar', length: 128 })
  kernelVersion!: string;
  @Column({ name: 'agent_version', type: 'varchar', length: 64 })
  agentVersion!: string;
  @Column({ name: 'parent_version', type: 'int', nullable: true })
  parentVersion!: number | null;
  @Column({ type: 'jsonb' })
  checks!: SmokeCheckView[];
  /** The record of each file, as sealed; empty before freeze. */
  @Column({ name: 'sealed_files', type: 'jsonb' })
  sealedFiles!: SealedFileView[];
  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
  @Column({ name: 'frozen_at', type: 'timestamptz', precision: 3, nullable: true })
  frozenAt!: Date | null;
  @Column({ name: 'verified_at', type: 'timestamptz', precision: 3, nullable: true })
  verifiedAt!: Date | null;
}
