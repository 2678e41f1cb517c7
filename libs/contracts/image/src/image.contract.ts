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
  StreamTicket,
} from '@inquest/contracts-base';
import { ImageDiffRequest, ImageDiffView } from './image-diff.dto';
import { ImportImageRequest, NamedVersionRequest, UnfreezeRequest, UploadImageRequest } from './image-life.dto';
import { ImageVersionDetail, ImageVersionView, SealedFileView, VersionTemplateView } from './image-version.dto';

/** A named base system. */
export class ImageView {
  @IsImageName() readonly name!: string;
  @IsText(512) readonly description!: string;
  /** The version that a session gets when it names none; null when nothing is frozen. */
  @Nullable() @IsWhole(1, 1_000_000) readonly frozenVersion!: number | null;
  /** A working copy is open: sessions that name no version are refused. */
  @IsBoolean() readonly isUnfrozen!: boolean;
  @IsListOf(() => ImageVersionView, 200) readonly versions!: ImageVersionView[];
  /** Of `frozenVersion`, on all nodes that answer; empty in listings. */
  @IsListOf(() => VersionTemplateView, 500) readonly templates: VersionTemplateView[] = [];
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

/**
 * What a machine is started for. Only the smoke gate may boot a version that is not frozen yet, and only maintenance the
 * open working copy.
 */
export const RESOLVE_PURPOSES = ['session', 'smoke', 'maintenance'] as const;
export type ResolvePurpose = (typeof RESOLVE_PURPOSES)[number];

export class ResolveImageRequest extends ImageVersionRequest {
  @IsIn(RESOLVE_PURPOSES) readonly purpose: ResolvePurpose = 'session';
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

export class CancelOperationRequest {
  @IsId() readonly operationId!: string;
}

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
  /** Its doing. */
  @IsId() readonly operationId!: string;
  @IsTimeMs() readonly atMs!: number;
}

/** An operation began a step or ended. */
export class ImageOperationChanged {
  @IsNested(() => OperationView) readonly operation!: OperationView;
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
  /** Has every node make the template of a frozen version that it does not have; this is done by itself, too. */
  makeTemplate: operation({
    subject: `${SUBJECT}.make-template`,
    request: ImageVersionRequest,
    response: OperationView,
    timeoutMs: 10_000,
  }),
  /** A working copy is made of the newest (or the named) frozen version. */
  unfreeze: operation({
    subject: `${SUBJECT}.unfreeze`,
    request: UnfreezeRequest,
    response: OperationView,
    timeoutMs: 10_000,
  }),
  import: operation({
    subject: `${SUBJECT}.import`,
    request: ImportImageRequest,
    response: OperationView,
    timeoutMs: 10_000,
  }),
  /** The bytes are then sent to the answered address, which answers with the operation. */
  openUpload: operation({
    subject: `${SUBJECT}.open-upload`,
    request: UploadImageRequest,
    response: StreamTicket,
    timeoutMs: 5_000,
  }),
  /** Nothing starts on it any more; its files stay until it is removed. */
  retire: operation({
    subject: `${SUBJECT}.retire`,
    request: NamedVersionRequest,
    response: ImageVersionView,
    timeoutMs: 10_000,
  }),
  /** Removes the files of a version that is not frozen; of an open working copy, this discards it. */
  remove: operation({
    subject: `${SUBJECT}.remove`,
    request: NamedVersionRequest,
    response: ImageVersionView,
    timeoutMs: 30_000,
  }),
  showVersion: operation({
    subject: `${SUBJECT}.show-version`,
    request: NamedVersionRequest,
    response: ImageVersionDetail,
    timeoutMs: 10_000,
  }),
  /** Reads both disks: seconds for a small system, a minute for a large one. */
  diff: operation({
    subject: `${SUBJECT}.diff`,
    request: ImageDiffRequest,
    response: ImageDiffView,
    timeoutMs: 300_000,
  }),
  operation: operation({
    subject: `${SUBJECT}.operation`,
    request: ImageOperationRequest,
    response: OperationView,
    timeoutMs: 60_000,
  }),
  /** Answers when the operation has stopped, or as it is after some seconds: it then stops on its own. */
  cancelOperation: operation({
    subject: `${SUBJECT}.cancel-operation`,
    request: CancelOperationRequest,
    response: OperationView,
    timeoutMs: 20_000,
  }),
  log: operation({ subject: `${SUBJECT}.log`, request: ImageLogRequest, response: ImageLogView, timeoutMs: 5_000 }),
  resolve: operation({
    subject: `${SUBJECT}.resolve`,
    request: ResolveImageRequest,
    response: ResolvedImage,
    timeoutMs: 5_000,
  }),
} as const;

export const imageEvents = {
  /** `inquest.v1.evt.image.changed.<name>` */
  changed: event({ subject: 'inquest.v1.evt.image.changed', body: ImageChanged }),
  /** `inquest.v1.evt.image.operation-changed.<operationId>` */
  operationChanged: event({ subject: 'inquest.v1.evt.image.operation-changed', body: ImageOperationChanged }),
} as const;
