import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ImageOrigin, ImageState, PackageView, SealedFileView, SmokeCheckView } from '@inquest/contracts-image';
import type { RecipeCheck } from '../recipes/recipe';

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
  @Column({ type: 'text' })
  description!: string;
  @Column({ type: 'varchar', length: 16 })
  origin!: ImageOrigin;
  @Column({ name: 'recipe_digest', type: 'varchar', length: 128 })
  recipeDigest!: string;
  @Column({ name: 'source_digest', type: 'varchar', length: 80, nullable: true })
  sourceDigest!: string | null;
  @Column({ name: 'unfreeze_reason', type: 'text', nullable: true })
  unfreezeReason!: string | null;
  @Column({ name: 'kernel_version', type: 'varchar', length: 128 })
  kernelVersion!: string;
  @Column({ name: 'agent_version', type: 'varchar', length: 64 })
  agentVersion!: string;
  /** Of the recipe as it was at the build, or of the import, like those that follow. */
  @Column({ name: 'kernel_arguments', type: 'jsonb' })
  kernelArguments!: string[];
  @Column({ name: 'default_memory_mib', type: 'int' })
  defaultMemoryMib!: number;
  @Column({ name: 'has_screen', type: 'boolean' })
  hasScreen!: boolean;
  /** What the smoke gate runs. */
  @Column({ name: 'smoke_checks', type: 'jsonb' })
  smokeChecks!: RecipeCheck[];
  @Column({ name: 'required_cli', type: 'text', nullable: true })
  requiredCli!: string | null;
  @Column({ name: 'parent_version', type: 'int', nullable: true })
  parentVersion!: number | null;
  @Column({ type: 'jsonb' })
  checks!: SmokeCheckView[];
  /** How long the smoke gate took that it passed. */
  @Column({ name: 'smoke_ms', type: 'int', nullable: true })
  smokeMs!: number | null;
  /** How long the nodes took to make its template. */
  @Column({ name: 'template_ms', type: 'int', nullable: true })
  templateMs!: number | null;
  /** The record of each file, as sealed; empty before freeze. */
  @Column({ name: 'sealed_files', type: 'jsonb' })
  sealedFiles!: SealedFileView[];
  /** Found when it was frozen. */
  @Column({ type: 'jsonb' })
  packages!: PackageView[];
  /** Its files are gone. */
  @Column({ name: 'is_removed', type: 'boolean' })
  isRemoved!: boolean;
  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
  @Column({ name: 'frozen_at', type: 'timestamptz', precision: 3, nullable: true })
  frozenAt!: Date | null;
  @Column({ name: 'verified_at', type: 'timestamptz', precision: 3, nullable: true })
  verifiedAt!: Date | null;
}
