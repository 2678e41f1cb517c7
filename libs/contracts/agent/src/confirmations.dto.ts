import { ArrayMaxSize, ArrayUnique, IsArray, IsIn, Length, Matches } from 'class-validator';
import { IsId, IsListOf, IsText, IsTimeMs, IsWhole, Nullable, PageRequest } from '@inquest/contracts-base';
import { CHOICE_LENGTH, MAX_CHOICES, QUESTION_LENGTH, VERB_NAMES, type VerbName } from './verbs';

/**
 * `open` until one of the others, which never change again. `expired`: nobody answered in time, which is no denial.
 * `withdrawn`: the run ended, or another was submitted, before anybody answered.
 */
export const CONFIRMATION_STATES = ['open', 'approved', 'denied', 'expired', 'withdrawn'] as const;
export type ConfirmationState = (typeof CONFIRMATION_STATES)[number];

/** `ask`: the model asked by that verb. `policy`: a call of any other verb that must not be done without a person. */
export const CONFIRMATION_ORIGINS = ['ask', 'policy'] as const;
export type ConfirmationOrigin = (typeof CONFIRMATION_ORIGINS)[number];

export const CONFIRMATION_DECISIONS = ['approve', 'deny'] as const;
export type ConfirmationDecision = (typeof CONFIRMATION_DECISIONS)[number];

/** Characters of the texts of a confirmation. */
export const CONFIRMATION_LENGTHS = {
  question: QUESTION_LENGTH,
  choice: CHOICE_LENGTH,
  arguments: 4_000,
  reason: 1_000,
} as const;

const DIGEST = /^sha256:[0-9a-f]{64}$/;
const MAX_POLICY_COMMANDS = 32;
const POLICY_COMMAND_LENGTH = 200;
/** Asking whether a person may be asked would never end. */
const CONFIRMABLE_VERBS: readonly VerbName[] = VERB_NAMES.filter((verb) => verb !== 'ask');

/** What a model may do only after a person approved of it. Verbs that a person invokes by hand need nobody else. */
export class ConfirmationPolicy {
  /** Every call of these verbs. */
  @IsArray()
  @ArrayMaxSize(CONFIRMABLE_VERBS.length)
  @ArrayUnique()
  @IsIn(CONFIRMABLE_VERBS, { each: true })
  readonly verbs: VerbName[] = [];

  /**
   * Commands in which these words stand one after the other, wherever that is: `rm -rf` also finds `cd x && sudo rm -rf y`,
   * and `echo rm -rf`, which it asks about in vain. Quotes, backslashes and the directory of a program do not count. A
   * reminder, no barrier: what a script of the guest does is not looked into.
   */
  @IsArray()
  @ArrayMaxSize(MAX_POLICY_COMMANDS)
  @Length(1, POLICY_COMMAND_LENGTH, { each: true })
  @Matches(/^[^\s'"\\;&|()<>`]+(?: [^\s'"\\;&|()<>`]+)*$/, { each: true })
  readonly commands: string[] = [];
}

/** A question that only a person may answer, about one call of a verb. */
export class ConfirmationView {
  @IsId() readonly confirmationId!: string;
  @IsId() readonly sessionId!: string;
  @IsId() readonly project!: string;
  /** With the next two: what it is bound to. An answer has to name all three. */
  @IsId() readonly runId!: string;
  @IsId() readonly callId!: string;
  /** `sha256:<hex>` over the verb and its arguments, whole. */
  @Matches(DIGEST) readonly argumentsDigest!: string;
  @IsText(64, 1) readonly verb!: string;
  @IsIn(CONFIRMATION_ORIGINS) readonly origin!: ConfirmationOrigin;
  @IsText(CONFIRMATION_LENGTHS.question) readonly question!: string;
  /** Approving means choosing one of these; empty: approving is all there is to choose. */
  @IsArray()
  @ArrayMaxSize(MAX_CHOICES)
  @Length(1, CONFIRMATION_LENGTHS.choice, { each: true })
  readonly choices!: string[];
  /** The beginning of the arguments, for people; empty for `ask`, whose arguments are the question. */
  @IsText(CONFIRMATION_LENGTHS.arguments) readonly argumentsText!: string;
  /** Characters of all of it; more than `argumentsText` has when that was cut. */
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly argumentsLength!: number;
  @IsIn(CONFIRMATION_STATES) readonly state!: ConfirmationState;
  @Nullable() @IsText(CONFIRMATION_LENGTHS.choice) readonly choice!: string | null;
  /** What was said with the answer, or why there was none; empty while it is open. */
  @IsText(CONFIRMATION_LENGTHS.reason) readonly reason!: string;
  /** The way by which it was answered; null when it was not. */
  @Nullable() @IsText(64) readonly by!: string | null;
  @IsTimeMs() readonly askedAtMs!: number;
  @IsTimeMs() readonly expiresAtMs!: number;
  @Nullable() @IsTimeMs() readonly endedAtMs!: number | null;
}

export class ConfirmationList {
  @IsListOf(() => ConfirmationView, 200) readonly items!: ConfirmationView[];
  @Nullable() @IsText(512) readonly nextToken!: string | null;
}

export class ListConfirmationsRequest extends PageRequest {
  /** Only those in this state. */
  @Nullable() @IsIn(CONFIRMATION_STATES) readonly state: ConfirmationState | null = null;
}

export class ConfirmationRequest {
  @IsId() readonly confirmationId!: string;
}

/** What a person decided. */
export class ConfirmationAnswer {
  /** Of the confirmation as it was shown: `runId`, `callId` and `argumentsDigest`. */
  @IsId() readonly runId!: string;
  @IsId() readonly callId!: string;
  @Matches(DIGEST) readonly argumentsDigest!: string;
  @IsIn(CONFIRMATION_DECISIONS) readonly decision!: ConfirmationDecision;
  /** Which of the choices; needed to approve where there are any. */
  @Nullable() @IsText(CONFIRMATION_LENGTHS.choice, 1) readonly choice: string | null = null;
  /** Told to the model. */
  @IsText(CONFIRMATION_LENGTHS.reason) readonly reason: string = '';
  /** Idempotency: the same answer with the same id is answered as the first time. */
  @Nullable() @IsId() readonly requestId: string | null = null;
}

export class AnswerConfirmationRequest extends ConfirmationAnswer {
  @IsId() readonly confirmationId!: string;
  /** The way by which the answer came. */
  @IsText(64, 1) readonly by!: string;
}
