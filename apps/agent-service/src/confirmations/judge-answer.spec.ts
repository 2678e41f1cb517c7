import { AnswerConfirmationRequest } from '@inquest/contracts-agent';
import { dto } from '@inquest/contracts-base';
import type { ConfirmationEntity } from './confirmation.entity';
import { judgeAnswer } from './judge-answer';

const DIGEST = `sha256:${'a'.repeat(64)}`;
const NOW_MS = 1_000_000;

const row = (more: Partial<ConfirmationEntity> = {}): ConfirmationEntity => ({
  confirmationId: 'cnf-1',
  sessionId: 'ses-1',
  project: 'site',
  runId: 'run-1',
  callId: 'call-1',
  verb: 'ask',
  argumentsDigest: DIGEST,
  origin: 'ask',
  question: 'Shall I?',
  choices: [],
  argumentsText: '',
  argumentsLength: 0,
  state: 'open',
  choice: null,
  reason: '',
  by: null,
  answerRequestId: null,
  askedAt: new Date(NOW_MS - 1_000),
  expiresAt: new Date(NOW_MS + 1_000),
  endedAt: null,
  ...more,
});
const answer = (more: Partial<AnswerConfirmationRequest> = {}): AnswerConfirmationRequest => {
  const bound = { confirmationId: 'cnf-1', runId: 'run-1', callId: 'call-1', argumentsDigest: DIGEST };
  return dto(AnswerConfirmationRequest, { ...bound, decision: 'approve', by: 'test', ...more });
};
const refusal = (code: string) => ({ kind: 'refuse', error: { code } });

describe('judgeAnswer', () => {
  it('settles an open confirmation as the person decided', () => {
    expect(judgeAnswer(row(), answer(), NOW_MS)).toEqual({ kind: 'settle', state: 'approved' });
    expect(judgeAnswer(row(), answer({ decision: 'deny' }), NOW_MS)).toEqual({ kind: 'settle', state: 'denied' });
  });

  it.each([{ runId: 'run-2' }, { callId: 'call-2' }, { argumentsDigest: `sha256:${'b'.repeat(64)}` }])(
    'refuses an answer to %j, open or not',
    (other) => {
      for (const state of ['open', 'approved', 'expired'] as const) {
        const judged = judgeAnswer(
          row({ state, answerRequestId: 'req-1' }),
          answer({ ...other, requestId: 'req-1' }),
          NOW_MS,
        );
        expect(judged).toMatchObject(refusal('CONFIRMATION_MISMATCH'));
      }
    },
  );

  it('lets it expire when its time is over, to the millisecond', () => {
    const expiresAt = new Date(NOW_MS);
    expect(judgeAnswer(row({ expiresAt }), answer(), NOW_MS - 1)).toMatchObject({ kind: 'settle' });
    expect(judgeAnswer(row({ expiresAt }), answer(), NOW_MS)).toEqual({ kind: 'expire' });
  });

  it.each([
    ['approved', 'CONFIRMATION_SETTLED'],
    ['denied', 'CONFIRMATION_SETTLED'],
    ['withdrawn', 'CONFIRMATION_SETTLED'],
    ['expired', 'CONFIRMATION_EXPIRED'],
  ] as const)('refuses an answer to what is %s', (state, code) => {
    expect(judgeAnswer(row({ state }), answer(), NOW_MS)).toMatchObject(refusal(code));
  });

  it('knows the same answer of the same request again, and no other', () => {
    const given = row({ state: 'denied', reason: 'no', answerRequestId: 'req-1' });
    const same = { decision: 'deny', reason: 'no', requestId: 'req-1' } as const;
    expect(judgeAnswer(given, answer(same), NOW_MS)).toEqual({ kind: 'replay' });
    for (const other of [
      { requestId: null },
      { requestId: 'req-2' },
      { reason: 'never' },
      { decision: 'approve' as const },
    ]) {
      expect(judgeAnswer(given, answer({ ...same, ...other }), NOW_MS)).toMatchObject(refusal('CONFIRMATION_SETTLED'));
    }
    // Without a request id there is nothing to know it by.
    expect(judgeAnswer(row({ state: 'approved' }), answer(), NOW_MS)).toMatchObject(refusal('CONFIRMATION_SETTLED'));
  });

  it('approves only with a choice that is on offer, and denies without one', () => {
    const offering = row({ choices: ['a', 'b'] });
    expect(judgeAnswer(offering, answer({ choice: 'b' }), NOW_MS)).toEqual({ kind: 'settle', state: 'approved' });
    expect(judgeAnswer(offering, answer({ choice: 'c' }), NOW_MS)).toMatchObject(refusal('CONFIRMATION_CHOICE_WRONG'));
    expect(judgeAnswer(offering, answer(), NOW_MS)).toMatchObject(refusal('CONFIRMATION_CHOICE_WRONG'));
    expect(judgeAnswer(row(), answer({ choice: 'a' }), NOW_MS)).toMatchObject(refusal('CONFIRMATION_CHOICE_WRONG'));
    expect(judgeAnswer(offering, answer({ decision: 'deny' }), NOW_MS)).toEqual({ kind: 'settle', state: 'denied' });
  });
});
