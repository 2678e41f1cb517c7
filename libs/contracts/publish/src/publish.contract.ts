import { ArrayMaxSize, IsArray, IsBoolean, IsIn, IsString, Matches, MaxLength } from 'class-validator';
import { event, operation } from '@inquest/kernel';
import {
  Empty,
  ErrorView,
  IsId,
  IsListOf,
  IsNested,
  IsText,
  IsTimeMs,
  IsWhole,
  Nullable,
  PageRequest,
  PersonView,
} from '@inquest/contracts-shared';

const IsCommit = (): PropertyDecorator => Matches(/^[0-9a-f]{40}$/);

export class ProjectRequest {
  @IsId() readonly project!: string;
}

/** A host-side git repository that sessions work on. */
export class ProjectView {
  @IsId() readonly project!: string;
  /** Null while nothing was ever committed. */
  @Nullable() @IsCommit() readonly head!: string | null;
  @IsText(128) readonly defaultBranch!: string;
  @IsTimeMs() readonly createdAtMs!: number;
}

export class StageProjectRequest extends ProjectRequest {
  @IsId() readonly machineId!: string;
  @IsId() readonly sessionId!: string;
}

/** What was put into the guest at /mnt/project. */
export class StagedView {
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly entries!: number;
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly sizeBytes!: number;
}

export class CommitRequest extends ProjectRequest {
  /** The verb call it belongs to: the same id commits once. */
  @IsId() readonly requestId!: string;
  @IsId() readonly sessionId!: string;
  @IsId() readonly machineId!: string;
  @IsText(16 * 1024, 1) readonly message!: string;
  @IsNested(() => PersonView) readonly author!: PersonView;
  /** Paths that go in although the scratch filter would hold them. */
  @IsArray()
  @ArrayMaxSize(1000)
  @IsString({ each: true })
  @MaxLength(4096, { each: true })
  readonly forceInclude: string[] = [];
}

/** A path that was not committed, with the rule that held it. */
export class HeldView {
  @IsText(4096) readonly path!: string;
  @IsText(128) readonly rule!: string;
  @IsText(1024) readonly why!: string;
}

/** Listings inside a reply are cut here; the counts stay exact. */
export const MAX_LISTED_PATHS = 500;

export class CommitView {
  /** Null when the guest changed nothing that belongs into the project; then nothing was made. */
  @Nullable() @IsCommit() readonly commit!: string | null;
  @IsText(128) readonly branch!: string;
  @IsWhole(0, 10_000_000) readonly keptCount!: number;
  @IsArray() @ArrayMaxSize(MAX_LISTED_PATHS) @IsString({ each: true }) readonly kept!: string[];
  @IsWhole(0, 10_000_000) readonly heldCount!: number;
  @IsListOf(() => HeldView, MAX_LISTED_PATHS) readonly held!: HeldView[];
  /** Entries that cannot be taken for safety: a nested .git, a device, a path that leaves the tree. */
  @IsWhole(0, 10_000_000) readonly refusedCount!: number;
  @IsListOf(() => HeldView, MAX_LISTED_PATHS) readonly refused!: HeldView[];
  /** What else the author should know, e.g. that the project's own scratch rules cannot be read. */
  @IsArray() @ArrayMaxSize(16) @IsString({ each: true }) readonly warnings: string[] = [];
}

export class PublishRequest extends ProjectRequest {
  @IsId() readonly sessionId!: string;
  /** First line of a pull request or release, for people. */
  @IsText(512) readonly title: string = '';
}

/** `skipped`: no forge is configured; the work is kept and the reason says so. */
export const PUBLICATION_STATES = ['pending', 'published', 'failed', 'skipped'] as const;
export type PublicationState = (typeof PUBLICATION_STATES)[number];

/** One push of a session's commits to the forge. */
export class PublicationView {
  @IsId() readonly publicationId!: string;
  @IsId() readonly sessionId!: string;
  @IsId() readonly project!: string;
  @IsIn(PUBLICATION_STATES) readonly state!: PublicationState;
  @IsText(32) readonly forge!: string;
  @IsText(256) readonly branch!: string;
  @IsCommit() readonly commit!: string;
  /** Where people find it; null until it is published. */
  @Nullable() @IsText(2048) readonly url!: string | null;
  @IsBoolean() readonly isVerified!: boolean;
  @IsText(8192) readonly message!: string;
  @Nullable() @IsNested(() => ErrorView) readonly error!: ErrorView | null;
  @IsWhole(0, 1_000_000) readonly attempts!: number;
  @IsWhole(0, 10_000_000) readonly heldCount!: number;
  @IsListOf(() => HeldView, MAX_LISTED_PATHS) readonly held!: HeldView[];
  @IsTimeMs() readonly createdAtMs!: number;
  @Nullable() @IsTimeMs() readonly publishedAtMs!: number | null;
}

export class PublicationRequest {
  @IsId() readonly publicationId!: string;
}

export class PublicationList {
  @IsListOf(() => PublicationView, 200) readonly items!: PublicationView[];
  @Nullable() @IsText(512) readonly nextToken!: string | null;
}

export class ForgeCheckView {
  @IsText(32) readonly forge!: string;
  @IsBoolean() readonly isUsable!: boolean;
  @IsText(2048) readonly message!: string;
}

export class PublicationChanged {
  @IsNested(() => PublicationView) readonly publication!: PublicationView;
  @IsTimeMs() readonly atMs!: number;
}

const SUBJECT = 'inquest.v1.cmd.publish';

/** The calls that publish-service answers. */
export const publishOps = {
  ensureProject: operation({
    subject: `${SUBJECT}.ensure-project`,
    request: ProjectRequest,
    response: ProjectView,
    timeoutMs: 15_000,
  }),
  showProject: operation({
    subject: `${SUBJECT}.show-project`,
    request: ProjectRequest,
    response: ProjectView,
    timeoutMs: 5_000,
  }),
  stageProject: operation({
    subject: `${SUBJECT}.stage-project`,
    request: StageProjectRequest,
    response: StagedView,
    timeoutMs: 300_000,
  }),
  commit: operation({ subject: `${SUBJECT}.commit`, request: CommitRequest, response: CommitView, timeoutMs: 300_000 }),
  publish: operation({
    subject: `${SUBJECT}.publish`,
    request: PublishRequest,
    response: PublicationView,
    timeoutMs: 120_000,
  }),
  list: operation({ subject: `${SUBJECT}.list`, request: PageRequest, response: PublicationList, timeoutMs: 5_000 }),
  show: operation({
    subject: `${SUBJECT}.show`,
    request: PublicationRequest,
    response: PublicationView,
    timeoutMs: 5_000,
  }),
  retry: operation({
    subject: `${SUBJECT}.retry`,
    request: PublicationRequest,
    response: PublicationView,
    timeoutMs: 120_000,
  }),
  checkForge: operation({
    subject: `${SUBJECT}.check-forge`,
    request: Empty,
    response: ForgeCheckView,
    timeoutMs: 30_000,
  }),
} as const;

/** `inquest.v1.evt.publish.publication-changed.<publicationId>` */
export const publishEvents = {
  publicationChanged: event({ subject: 'inquest.v1.evt.publish.publication-changed', body: PublicationChanged }),
} as const;
