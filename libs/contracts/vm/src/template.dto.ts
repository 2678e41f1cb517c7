import { IsId, IsImageName, IsWhole, Nullable } from '@inquest/contracts-base';
import { IsBoolean } from 'class-validator';
import { CPUS, MEMORY_MIB } from './machine.dto';

/** Of a frozen version, for machines of one shape: device state fits no other. */
export class MakeTemplateRequest {
  @IsImageName() readonly image!: string;
  @IsWhole(1, 1_000_000) readonly version!: number;
  @IsWhole(CPUS.min, CPUS.max) readonly cpus: number = CPUS.default;
  /** Null means what the image declares. */
  @Nullable() @IsWhole(MEMORY_MIB.min, MEMORY_MIB.max) readonly memoryMib: number | null = null;
}

/** The templates of one version, whatever the shape of their machines. */
export class RemoveTemplatesRequest {
  @IsImageName() readonly image!: string;
  @IsWhole(1, 1_000_000) readonly version!: number;
}

/** A node that has none of them any more. */
export class RemovedTemplatesView {
  @IsId() readonly node!: string;
}

/** A template as it is on one node. */
export class TemplateView {
  @IsId() readonly node!: string;
  @IsImageName() readonly image!: string;
  @IsWhole(1, 1_000_000) readonly version!: number;
  @IsWhole(CPUS.min, CPUS.max) readonly cpus!: number;
  @IsWhole(MEMORY_MIB.min, MEMORY_MIB.max) readonly memoryMib!: number;
  /** False when it was there already. */
  @IsBoolean() readonly isNew!: boolean;
}
