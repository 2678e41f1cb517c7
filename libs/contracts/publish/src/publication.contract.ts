import { ArrayMaxSize, ArrayUnique, IsArray, IsBoolean, IsIn, IsString, Matches } from 'class-validator';
import { ErrorView, IsId, IsListOf, IsNested, IsText, IsTimeMs, IsWhole, Nullable } from '@inquest/contracts-base';
import { HeldView, IsCommit, MAX_LISTED_PATHS, ProjectRequest } from './commit.contract';
import { SessionReport } from './session-report';

export class PublishRequest extends ProjectRequest {
  @IsId() readonly sessionId!: string;
  /** First line of a pull request or release, for people. */
  @IsText(512) readonly title: string = '';
  /** For the body of a pull request. That of the first request for a commit counts. */
  @Nullable() @IsNested(() => SessionReport) readonly report: SessionReport | null = null;
}

/**
 * `pending`: being worked on, or to be finished by the next start. `published`: the branch was read back, and every step
 * is done or skipped. `failed`: the branch or a step failed; the error says which and what to do. `skipped`: no forge is
 * configured; the work is kept and the reason says so.
 */
export const PUBLICATION_STATES = ['pending', 'published', 'failed', 'skipped'] as const;
export type PublicationState = (typeof PUBLICATION_STATES)[number];

/**
 * What belongs to a push, in this order. `base-branch` comes before it and is there only when it was needed: the branch
 * that a pull request asks to be merged into was made where the session began.
 */
export const PUBLICATION_STEPS = ['base-branch', 'pull-request', 'release', 'topics'] as const;
export type PublicationStepKind = (typeof PUBLICATION_STEPS)[number];

/** `skipped`: it cannot be done at this forge as it is now; the message says why. A retry tries it again. */
export const STEP_STATES = ['pending', 'done', 'failed', 'skipped'] as const;
export type StepState = (typeof STEP_STATES)[number];

/** Something that a publication does at the forge once its branch is there. */
export class PublicationStepView {
  @IsIn(PUBLICATION_STEPS) readonly kind!: PublicationStepKind;
  @IsIn(STEP_STATES) readonly state!: StepState;
  /** Where people find what was made. */
  @Nullable() @IsText(2048) readonly url!: string | null;
  @IsText(8192) readonly message!: string;
  @Nullable() @IsNested(() => ErrorView) readonly error!: ErrorView | null;
}

/** Files that a release offers, at most. */
export const MAX_RELEASE_ARTIFACTS = 100;

/** A release of the published commit. */
export class ReleaseView {
  /** Of the characters of a branch name; the forge makes the tag at the commit and never moves it. */
  @Matches(/^[A-Za-z0-9_][A-Za-z0-9_./-]{0,127}$/) readonly tag!: string;
  /** One line; the tag when it is empty. */
  @IsText(255) readonly title: string = '';
  /** Markdown of whoever releases. */
  @IsText(16 * 1024) readonly notes: string = '';
  /** Files of the commit, by path; each is offered under the last segment of its path. */
  @IsArray()
  @ArrayMaxSize(MAX_RELEASE_ARTIFACTS)
  @ArrayUnique()
  @IsString({ each: true })
  @Matches(/^\P{C}{1,512}$/u, { each: true })
  readonly artifacts: string[] = [];
}

/** One push of a session's commits to the forge, and what was done there with them. */
export class PublicationView {
  @IsId() readonly publicationId!: string;
  @IsId() readonly sessionId!: string;
  @IsId() readonly project!: string;
  @IsIn(PUBLICATION_STATES) readonly state!: PublicationState;
  @IsText(32) readonly forge!: string;
  @IsText(256) readonly branch!: string;
  /** The branch that the commits are meant for; the same one unless each session has its own. */
  @IsText(256) readonly baseBranch: string = '';
  @IsCommit() readonly commit!: string;
  /** Where people find it; null until the branch was read back. */
  @Nullable() @IsText(2048) readonly url!: string | null;
  /** The branch was read back from the forge, and was at the commit or stood on it. */
  @IsBoolean() readonly isVerified!: boolean;
  @IsText(8192) readonly message!: string;
  @Nullable() @IsNested(() => ErrorView) readonly error!: ErrorView | null;
  @IsWhole(0, 1_000_000) readonly attempts!: number;
  /** When a failed one is tried again by itself; null: never. */
  @Nullable() @IsTimeMs() readonly nextAttemptAtMs: number | null = null;
  @IsListOf(() => PublicationStepView, PUBLICATION_STEPS.length) readonly steps: PublicationStepView[] = [];
  @Nullable() @IsNested(() => ReleaseView) readonly release: ReleaseView | null = null;
  @IsWhole(0, 10_000_000) readonly heldCount!: number;
  @IsListOf(() => HeldView, MAX_LISTED_PATHS) readonly held!: HeldView[];
  /** Why the project's own scratch rules had no part in what was held back; null: they had, or there are none. */
  @Nullable() @IsNested(() => ErrorView) readonly rulesProblem: ErrorView | null = null;
  @IsTimeMs() readonly createdAtMs!: number;
  @Nullable() @IsTimeMs() readonly publishedAtMs!: number | null;
}

export class PublicationRequest {
  @IsId() readonly publicationId!: string;
}

export class RetryOptions {
  /** Publishes to a branch of the session's own from now on: the way past a branch that somebody else moved. */
  @IsBoolean() readonly ownBranch: boolean = false;
}

export class RetryRequest extends RetryOptions {
  @IsId() readonly publicationId!: string;
}

export class ReleaseRequest extends ReleaseView {
  @IsId() readonly publicationId!: string;
}

export class PublicationList {
  @IsListOf(() => PublicationView, 200) readonly items!: PublicationView[];
  @Nullable() @IsText(512) readonly nextToken!: string | null;
}

export class PublicationChanged {
  @IsNested(() => PublicationView) readonly publication!: PublicationView;
  @IsTimeMs() readonly atMs!: number;
}
