import { IsArray, IsBoolean, IsIn, IsString, Matches } from 'class-validator';
import { event, operation } from '@inquest/kernel';
import {
  Empty,
  IsId,
  IsImageName,
  IsListOf,
  IsNested,
  IsText,
  IsTimeMs,
  IsWhole,
  Nullable,
  OperationRequest,
  OperationView,
} from '@inquest/contracts-shared';

/** Life of a version: building -> built -> smoke_ok -> frozen -> retired, or failed. `unfrozen` is the open working copy. */
export const IMAGE_STATES = ['building', 'built', 'smoke_ok', 'frozen', 'retired', 'failed', 'unfrozen'] as const;
export type ImageState = (typeof IMAGE_STATES)[number];

/** `unchecked` is said where there was nothing to check; it is never reported as passed. */
export const CHECK_OUTCOMES = ['passed', 'failed', 'unchecked'] as const;
export type CheckOutcome = (typeof CHECK_OUTCOMES)[number];

/** One check of the smoke gate. */
export class SmokeCheckView {
  @IsText(128) readonly name!: string;
  @IsIn(CHECK_OUTCOMES) readonly outcome!: CheckOutcome;
  @IsText(4096) readonly detail!: string;
}

/** One immutable numbered version of an image. */
export class ImageVersionView {
  @IsImageName() readonly name!: string;
  @IsWhole(1, 1_000_000) readonly version!: number;
  @IsIn(IMAGE_STATES) readonly state!: ImageState;
  /** Why it is in this state, for people; empty when there is nothing to say. */
  @IsText(8192) readonly message!: string;
  /** `sha256:<hex>` of the disk; null before freeze. */
  @Nullable() @Matches(/^sha256:[0-9a-f]{64}$/) readonly digest!: string | null;
  /** Apparent size of the disk; null before it is built. */
  @Nullable() @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly sizeBytes!: number | null;
  @IsText(128) readonly recipeDigest!: string;
  @IsText(128) readonly kernelVersion!: string;
  @IsText(64) readonly agentVersion!: string;
  @Nullable() @IsWhole(1, 1_000_000) readonly parentVersion!: number | null;
  @IsListOf(() => SmokeCheckView, 64) readonly checks!: SmokeCheckView[];
  @IsTimeMs() readonly createdAtMs!: number;
  @Nullable() @IsTimeMs() readonly frozenAtMs!: number | null;
  @Nullable() @IsTimeMs() readonly verifiedAtMs!: number | null;
}

/** A named base system. */
export class ImageView {
  @IsImageName() readonly name!: string;
  @IsText(512) readonly description!: string;
  /** The version that a session gets when it names none; null when nothing is frozen. */
  @Nullable() @IsWhole(1, 1_000_000) readonly frozenVersion!: number | null;
  /** A working copy is open: sessions that name no version are refused. */
  @IsBoolean() readonly isUnfrozen!: boolean;
  @IsListOf(() => ImageVersionView, 200) readonly versions!: ImageVersionView[];
}

export class ImageList {
  @IsListOf(() => ImageView, 200) readonly items!: ImageView[];
}

export class ImageRequest {
  @IsImageName() readonly name!: string;
}

export class ImageVersionRequest {
  @IsImageName() readonly name!: string;
  /** Null means the newest version in the state that the operation needs. */
  @Nullable() @IsWhole(1, 1_000_000) readonly version: number | null = null;
}

/** What a machine is started for. Only the smoke gate may boot a version that is not frozen yet. */
export const RESOLVE_PURPOSES = ['session', 'smoke'] as const;
export type ResolvePurpose = (typeof RESOLVE_PURPOSES)[number];

export class ResolveImageRequest extends ImageVersionRequest {
  @IsIn(RESOLVE_PURPOSES) readonly purpose: ResolvePurpose = 'session';
}

/** One file of a version as it was recorded when it was sealed. Big numbers travel as decimal strings. */
export class SealedFileView {
  @IsText(64, 1) readonly file!: string;
  @Matches(/^sha256:[0-9a-f]{64}$/) readonly digest!: string;
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly sizeBytes!: number;
  @Matches(/^\d{1,20}$/) readonly inode!: string;
  @Matches(/^\d{1,20}$/) readonly mtimeNs!: string;
  @Matches(/^\d{1,20}$/) readonly ctimeNs!: string;
  /** Permission bits in octal, e.g. `0444`. */
  @Matches(/^0[0-7]{3}$/) readonly mode!: string;
}

/** Everything a node needs to start a machine on a version. The node composes paths itself, from name and version. */
export class ResolvedImage {
  @IsImageName() readonly name!: string;
  @IsWhole(1, 1_000_000) readonly version!: number;
  @IsListOf(() => SealedFileView, 16) readonly files!: SealedFileView[];
  /** Extra kernel arguments of the recipe. */
  @IsArray()
  @IsString({ each: true })
  @Matches(/^[A-Za-z0-9_.,=:/-]{1,256}$/, { each: true })
  readonly kernelArguments!: string[];
  @IsWhole(64, 1_048_576) readonly defaultMemoryMib!: number;
  @IsBoolean() readonly hasScreen!: boolean;
}

export class ImageOperationRequest extends OperationRequest {}

/** Part of an operation's or a version's log. */
export class ImageLogRequest {
  @IsImageName() readonly name!: string;
  @IsWhole(1, 1_000_000) readonly version!: number;
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly fromOffset: number = 0;
}

export class ImageLogView {
  @IsString() readonly text!: string;
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly nextOffset!: number;
}

/** A version changed its state. */
export class ImageChanged {
  @IsNested(() => ImageVersionView) readonly version!: ImageVersionView;
  @IsId() readonly operationId!: string;
  @IsTimeMs() readonly atMs!: number;
}

const SUBJECT = 'inquest.v1.cmd.image';

/** The calls that image-service answers. */
export const imageOps = {
  list: operation({ subject: `${SUBJECT}.list`, request: Empty, response: ImageList, timeoutMs: 5_000 }),
  show: operation({ subject: `${SUBJECT}.show`, request: ImageRequest, response: ImageView, timeoutMs: 5_000 }),
  build: operation({ subject: `${SUBJECT}.build`, request: ImageRequest, response: OperationView, timeoutMs: 10_000 }),
  freeze: operation({
    subject: `${SUBJECT}.freeze`,
    request: ImageVersionRequest,
    response: OperationView,
    timeoutMs: 10_000,
  }),
  verify: operation({
    subject: `${SUBJECT}.verify`,
    request: ImageVersionRequest,
    response: OperationView,
    timeoutMs: 10_000,
  }),
  operation: operation({
    subject: `${SUBJECT}.operation`,
    request: ImageOperationRequest,
    response: OperationView,
    timeoutMs: 60_000,
  }),
  log: operation({ subject: `${SUBJECT}.log`, request: ImageLogRequest, response: ImageLogView, timeoutMs: 5_000 }),
  resolve: operation({
    subject: `${SUBJECT}.resolve`,
    request: ResolveImageRequest,
    response: ResolvedImage,
    timeoutMs: 5_000,
  }),
} as const;

/** `inquest.v1.evt.image.changed.<name>` */
export const imageEvents = {
  changed: event({ subject: 'inquest.v1.evt.image.changed', body: ImageChanged }),
} as const;
