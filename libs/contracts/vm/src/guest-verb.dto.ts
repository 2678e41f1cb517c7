import { ArrayMaxSize, IsArray, IsBoolean, IsIn, IsString, Matches, MaxLength } from 'class-validator';
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
} from '@inquest/contracts-shared';
import { IncarnationRequest } from './machine.dto';

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
export const STREAM_KINDS = ['exec', 'put', 'get'] as const;
export type StreamKind = (typeof STREAM_KINDS)[number];

/**
 * Asks for a byte stream to the guest. `exec`: the answer body is guest-protocol frames (stdout, stderr, exit), the
 * request body is stdin. `put`: the request body is a tar (or one file). `get`: the answer body is one.
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
  /** `put` and `get` only: the guest's path. */
  @Nullable() @IsGuestPath() readonly path: string | null = null;
  @IsIn(['tar', 'file']) readonly archive: 'tar' | 'file' = 'tar';
  @Nullable() @Matches(/^0?[0-7]{3}$/) readonly mode: string | null = null;
  @IsArray() @ArrayMaxSize(64) @IsString({ each: true }) @MaxLength(512, { each: true }) readonly exclude: string[] =
    [];
}

export class ScreenshotView {
  @IsId() readonly machineId!: string;
  /** PNG, base64: a text console is small. */
  @IsString() readonly png!: string;
}
