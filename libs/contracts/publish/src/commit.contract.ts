import { ArrayMaxSize, IsArray, IsString, Matches, MaxLength } from 'class-validator';
import {
  ErrorView,
  IsId,
  IsListOf,
  IsNested,
  IsText,
  IsTimeMs,
  IsWhole,
  Nullable,
  PersonView,
} from '@inquest/contracts-base';

/** Full id of a commit. */
export const IsCommit = (): PropertyDecorator => Matches(/^[0-9a-f]{40}$/);

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
  /** What else the author should know, in words, e.g. that the project's own scratch rules cannot be read. */
  @IsArray() @ArrayMaxSize(16) @IsString({ each: true }) readonly warnings: string[] = [];
  /** Why the project's own scratch rules were left out of this commit, so that the default ones alone decided; null: they were not. */
  @Nullable() @IsNested(() => ErrorView) readonly rulesProblem: ErrorView | null = null;
}
