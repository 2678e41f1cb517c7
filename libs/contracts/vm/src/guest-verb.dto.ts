import { ArrayMaxSize, IsArray, IsBoolean, IsIn, IsNumber, IsString, Matches, MaxLength, Min } from 'class-validator';
import {
  IsEnvironment,
  IsGuestPath,
  IsId,
  IsListOf,
  IsNested,
  IsText,
  IsTimeMs,
  IsWhole,
  Nullable,
} from '@inquest/contracts-base';
import { IncarnationRequest, MachineRequest } from './machine.dto';

/** Output of one exec that travels inside a reply; more goes by stream. Half of it head, half tail. */
export const EXEC_REPLY_OUTPUT_BYTES = 256 * 1024;

export class ExecRequest extends IncarnationRequest {
  /** Run by the guest's `/bin/sh -c`. */
  @IsText(128 * 1024, 1) readonly command!: string;
  @Nullable() @IsGuestPath() readonly cwd: string | null = null;
  /** Values are credentials as often as not: they are logged nowhere. */
  @Nullable() @IsEnvironment() readonly env: Record<string, string> | null = null;
  @Nullable() @Matches(/^[a-z_][a-z0-9_-]{0,31}$/) readonly user: string | null = null;
  /** Null: no limit but the caller's own deadline. */
  @Nullable() @IsWhole(1, 3_600_000) readonly timeoutMs: number | null = null;
  /** Per stream; head and tail are kept, the middle is counted. */
  @IsWhole(1024, EXEC_REPLY_OUTPUT_BYTES) readonly maxOutputBytes: number = 64 * 1024;
  /** By which `cancelExec` finds it while it runs; chosen by the caller, new for each command. Null: it cannot be cancelled. */
  @Nullable() @IsId() readonly execId: string | null = null;
}

export class CancelExecRequest extends MachineRequest {
  @IsId() readonly execId!: string;
}

/** What became of a request to cancel a command. */
export class CancelledExecView {
  /** False: no such command runs any more. */
  @IsBoolean() readonly isCancelled!: boolean;
}

/** One output stream, as text. Bytes that are not UTF-8 were replaced, and `isLossy` says so. */
export class ExecOutputView {
  @IsString() readonly text!: string;
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly totalBytes!: number;
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly droppedBytes!: number;
  @IsBoolean() readonly isLossy!: boolean;
}

/** A command that ran. Failing is a result, not an error. */
export class ExecView {
  /** Null when a signal ended it. */
  @Nullable() @IsWhole(0, 255) readonly exitCode!: number | null;
  @Nullable() @IsText(16) readonly signal!: string | null;
  @IsBoolean() readonly timedOut!: boolean;
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly durationMs!: number;
  @IsNested(() => ExecOutputView) readonly stdout!: ExecOutputView;
  @IsNested(() => ExecOutputView) readonly stderr!: ExecOutputView;
}

export class ReadFileRequest extends IncarnationRequest {
  @IsGuestPath() readonly path!: string;
  @IsWhole(1, EXEC_REPLY_OUTPUT_BYTES) readonly maxBytes: number = 64 * 1024;
}

export class ReadFileView {
  @IsString() readonly text!: string;
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly sizeBytes!: number;
  @IsBoolean() readonly isTruncated!: boolean;
  @IsBoolean() readonly isLossy!: boolean;
}

export class WriteFileRequest extends IncarnationRequest {
  @IsGuestPath() readonly path!: string;
  @IsString() @MaxLength(512 * 1024) readonly text!: string;
  @Nullable() @Matches(/^0?[0-7]{3}$/) readonly mode: string | null = null;
  @Nullable() @Matches(/^[a-z_][a-z0-9_-]{0,31}$/) readonly user: string | null = null;
}

export class WriteFileView {
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly sizeBytes!: number;
}

export class ListFilesRequest extends IncarnationRequest {
  @IsGuestPath() readonly path!: string;
  @IsWhole(1, 2000) readonly limit: number = 500;
}

export class FileEntryView {
  @IsText(1024) readonly name!: string;
  @IsIn(['file', 'dir', 'link', 'other']) readonly kind!: 'file' | 'dir' | 'link' | 'other';
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly sizeBytes!: number;
  @IsText(8) readonly mode!: string;
  @IsTimeMs() readonly modifiedAtMs!: number;
}

export class ListFilesView {
  @IsListOf(() => FileEntryView, 2000) readonly entries!: FileEntryView[];
  @IsBoolean() readonly isTruncated!: boolean;
}

/** The verb whose bytes flow over the ticket's stream. */
export const STREAM_KINDS = ['exec', 'put', 'get', 'tail'] as const;
export type StreamKind = (typeof STREAM_KINDS)[number];

/**
 * Asks for a byte stream to the guest. `exec`: the answer body is guest-protocol frames (stdout, stderr, exit), the
 * request body is stdin. `put`: the request body is a tar (or one file). `get`: the answer body is one. `tail`: the
 * answer body is guest-protocol frames (where it begins, the file's bytes, where the next tail goes on).
 */
export class OpenStreamRequest extends IncarnationRequest {
  @IsIn(STREAM_KINDS) readonly kind!: StreamKind;
  /** `exec` only. */
  @Nullable() @IsText(128 * 1024, 1) readonly command: string | null = null;
  @Nullable() @IsGuestPath() readonly cwd: string | null = null;
  @Nullable() @IsEnvironment() readonly env: Record<string, string> | null = null;
  @Nullable() @Matches(/^[a-z_][a-z0-9_-]{0,31}$/) readonly user: string | null = null;
  @Nullable() @IsWhole(1, 86_400_000) readonly timeoutMs: number | null = null;
  @IsBoolean() readonly stdin: boolean = false;
  /** All but `exec`: the guest's path. */
  @Nullable() @IsGuestPath() readonly path: string | null = null;
  @IsIn(['tar', 'file']) readonly archive: 'tar' | 'file' = 'tar';
  @Nullable() @Matches(/^0?[0-7]{3}$/) readonly mode: string | null = null;
  @IsArray() @ArrayMaxSize(64) @IsString({ each: true }) @MaxLength(512, { each: true }) readonly exclude: string[] =
    [];
  /** `tail` only: first byte wanted; behind the end of the file it is the end. */
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly fromOffset: number = 0;
  /** `tail` only: ends when the file has not grown for this long; 0 ends at its end. */
  @IsWhole(0, 3_600_000) readonly idleMs: number = 0;
}

/** How busy a guest is, as its agent tells it. */
export class GuestMetricsView {
  /** Average number of processes that ran or wanted to, over the last minute. */
  @IsNumber() @Min(0) readonly load1!: number;
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly memoryTotalKib!: number;
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly memoryAvailableKib!: number;
  /** Of the root disk. */
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly diskTotalKib!: number;
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly diskFreeKib!: number;
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly processes!: number;
  /** Commands of ours that run. */
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly execs!: number;
  /** Of all processors since the boot: two looks give the use between them. */
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly cpuBusyTicks!: number;
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly cpuTotalTicks!: number;
}
