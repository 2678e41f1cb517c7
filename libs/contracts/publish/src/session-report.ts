import { ArrayMaxSize, IsArray, IsString, MaxLength } from 'class-validator';
import { IsListOf, IsNested, IsText, IsWhole, Nullable } from '@inquest/contracts-base';

/** Characters of what a session says of its work; more is cut by whoever reports. */
export const SESSION_SUMMARY_LENGTH = 16 * 1024;
/** Verbs that a census lists; a model can call any number of names that are no verbs. */
export const MAX_CENSUS_VERBS = 100;

/** How often one verb was called, and how those calls ended. A model may have called names that are no verbs. */
export class CensusVerb {
  @IsText(128) readonly verb!: string;
  @IsWhole(0, 1_000_000_000) readonly count!: number;
  @IsWhole(0, 1_000_000_000) readonly refused!: number;
  @IsWhole(0, 1_000_000_000) readonly failed!: number;
  @IsWhole(0, 1_000_000_000) readonly errors!: number;
}

/** What a session did, counted. */
export class SessionCensus {
  @IsListOf(() => CensusVerb, MAX_CENSUS_VERBS) readonly verbs!: CensusVerb[];
  @IsArray()
  @ArrayMaxSize(MAX_CENSUS_VERBS)
  @IsString({ each: true })
  @MaxLength(128, { each: true })
  readonly neverUsed!: string[];
}

/** How the session's machine ended. */
export class SessionVerdict {
  @IsText(64) readonly class!: string;
  @IsText(16) readonly confidence!: string;
  @IsText(1024) readonly account!: string;
}

/** What people who review a publication are told of its session. All texts may be a guest's or a model's. */
export class SessionReport {
  /** What the agent says that it did; empty when nobody said anything. */
  @IsText(SESSION_SUMMARY_LENGTH) readonly summary: string = '';
  @Nullable() @IsNested(() => SessionCensus) readonly census: SessionCensus | null = null;
  /** Null when no machine ended, or nobody knows how. */
  @Nullable() @IsNested(() => SessionVerdict) readonly verdict: SessionVerdict | null = null;
}
