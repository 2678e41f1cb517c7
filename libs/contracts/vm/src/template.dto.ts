import { IsId, IsImageName, IsText, IsWhole, Nullable } from '@inquest/contracts-base';
import { IsBoolean, IsIn } from 'class-validator';
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

/**
 * `ready`: starts are clones of it. `making`: it is being made. `outdated`: of another QEMU, accelerator or device layout
 * than its node has now. `damaged`: not what was made. `unsupported`: the node's driver has no templates. Without a ready
 * one machines boot.
 */
export const TEMPLATE_STATES = ['ready', 'making', 'missing', 'outdated', 'damaged', 'unsupported'] as const;
export type TemplateState = (typeof TEMPLATE_STATES)[number];

/** Asks for the template of a version for machines of one shape. */
export class TemplateStateRequest {
  @IsImageName() readonly image!: string;
  @IsWhole(1, 1_000_000) readonly version!: number;
  @IsWhole(CPUS.min, CPUS.max) readonly cpus: number = CPUS.default;
  @IsWhole(MEMORY_MIB.min, MEMORY_MIB.max) readonly memoryMib!: number;
}

/** How the template that was asked for stands on one node. */
export class TemplateStateView {
  @IsId() readonly node!: string;
  @IsIn(TEMPLATE_STATES) readonly state!: TemplateState;
  /** Why, for people; empty when there is nothing to say. */
  @IsText(2048) readonly detail!: string;
}
