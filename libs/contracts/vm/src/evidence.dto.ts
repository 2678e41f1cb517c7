import { IsIn, IsString } from 'class-validator';
import { IsId, IsWhole } from '@inquest/contracts-base';
import { IncarnationRequest } from './machine.dto';

/** The files of an evidence bundle that can be read, by the names that `domain/verdict-engine` gives them. */
export const EVIDENCE_FILES = [
  'events.jsonl',
  'serial.log',
  'serial.tail.log',
  'actions.jsonl',
  'probes.jsonl',
  'egress.jsonl',
  'meta.json',
  'verdict.json',
] as const;
export type EvidenceFileName = (typeof EVIDENCE_FILES)[number];

/**
 * Most bytes of a file that one answer carries. A guest can fill its console with NUL, which JSON writes in six
 * characters: 128 KiB of that still fit into a NATS message of 1 MiB.
 */
export const EVIDENCE_CHUNK_BYTES = 128 * 1024;

/** Part of one evidence file of an incarnation, whether it has ended or still runs. */
export class EvidenceRequest extends IncarnationRequest {
  @IsIn(EVIDENCE_FILES) readonly file!: EvidenceFileName;
  /** First byte wanted. */
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly fromOffset: number = 0;
}

/** Bytes of an evidence file as text. What is not UTF-8 is replaced; the offsets count the file's bytes. */
export class EvidenceView {
  @IsId() readonly machineId!: string;
  @IsWhole(1, 1_000_000) readonly incarnation!: number;
  @IsIn(EVIDENCE_FILES) readonly file!: EvidenceFileName;
  /** Empty when the file does not reach `fromOffset`, or does not exist. */
  @IsString() readonly text!: string;
  /** Where the next read begins. */
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly nextOffset!: number;
  /** The whole file as it is now; 0 when it does not exist. */
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly sizeBytes!: number;
}
