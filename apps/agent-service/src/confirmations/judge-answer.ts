import { agentError, type AnswerConfirmationRequest, type ConfirmationState } from '@inquest/contracts-agent';
import type { DomainError } from '@inquest/kernel';
import type { ConfirmationEntity } from './confirmation.entity';

/** What an answer does to a confirmation. */
export type AnswerJudgement =
  | { readonly kind: 'settle'; readonly state: 'approved' | 'denied' }
  /** It is the answer that was given before, by the same request. */
  | { readonly kind: 'replay' }
  /** It came too late: the confirmation expires now. */
  | { readonly kind: 'expire' }
  | { readonly kind: 'refuse'; readonly error: DomainError };

/** The rules of answering, on a row that nobody else changes meanwhile. */
export function judgeAnswer(
  row: ConfirmationEntity,
  answer: AnswerConfirmationRequest,
  nowMs: number,
): AnswerJudgement {
  if (!isBoundTo(row, answer)) return refuse(mismatch(row, answer));
  if (row.state !== 'open') return isSameAnswer(row, answer) ? { kind: 'replay' } : refuse(notOpen(row));
  if (nowMs >= row.expiresAt.getTime()) return { kind: 'expire' };
  if (answer.decision === 'deny') return { kind: 'settle', state: 'denied' };
  return isChoiceRight(row, answer) ? { kind: 'settle', state: 'approved' } : refuse(choiceWrong(row, answer));
}

const STATE_OF_DECISION = { approve: 'approved', deny: 'denied' } as const satisfies Record<string, ConfirmationState>;

/** Why a confirmation that is not open takes no answer. */
export function notOpen({ confirmationId, state }: ConfirmationEntity): DomainError {
  const details = { confirmation: confirmationId, state };
  return state === 'expired'
    ? agentError('CONFIRMATION_EXPIRED', `the time to answer confirmation ${confirmationId} is over`, details)
    : agentError('CONFIRMATION_SETTLED', `confirmation ${confirmationId} is ${state} already`, details);
}

const refuse = (error: DomainError): AnswerJudgement => ({ kind: 'refuse', error });

const isBoundTo = (row: ConfirmationEntity, answer: AnswerConfirmationRequest): boolean =>
  row.runId === answer.runId && row.callId === answer.callId && row.argumentsDigest === answer.argumentsDigest;

const isSameAnswer = (row: ConfirmationEntity, answer: AnswerConfirmationRequest): boolean =>
  answer.requestId !== null &&
  row.answerRequestId === answer.requestId &&
  row.state === STATE_OF_DECISION[answer.decision] &&
  row.choice === chosenBy(answer) &&
  row.reason === answer.reason;

const isChoiceRight = ({ choices }: ConfirmationEntity, { choice }: AnswerConfirmationRequest): boolean =>
  choices.length === 0 ? choice === null : choice !== null && choices.includes(choice);

/** A denial chooses nothing. */
export const chosenBy = ({ decision, choice }: AnswerConfirmationRequest): string | null =>
  decision === 'deny' ? null : choice;

const mismatch = (row: ConfirmationEntity, { runId, callId }: AnswerConfirmationRequest): DomainError =>
  agentError(
    'CONFIRMATION_MISMATCH',
    `confirmation ${row.confirmationId} asks about call ${row.callId} of run ${row.runId}, and the answer is about call ${callId} of run ${runId}, or about other arguments`,
    { confirmation: row.confirmationId, run: row.runId, call: row.callId },
  );

function choiceWrong(
  { confirmationId, choices }: ConfirmationEntity,
  { choice }: AnswerConfirmationRequest,
): DomainError {
  const details = { confirmation: confirmationId, choice };
  const offered = choices.length === 0 ? 'none' : choices.map((one) => JSON.stringify(one)).join(', ');
  const given = choice === null ? 'no choice' : JSON.stringify(choice);
  const message = `the approval of confirmation ${confirmationId} names ${given}; on offer: ${offered}`;
  return agentError('CONFIRMATION_CHOICE_WRONG', message, details);
}
