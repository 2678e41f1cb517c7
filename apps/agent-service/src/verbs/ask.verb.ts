import { Injectable } from '@nestjs/common';
import type { AskArguments } from '@inquest/contracts-agent';
import type { ConfirmationEntity } from '../confirmations/confirmation.entity';
import { ConfirmationsService } from '../confirmations/confirmations.service';
import { answered, refused, type VerbAnswer, type VerbContext, type VerbHandler } from './verb-context';

const NO_RUN = 'Refused: ask is how a model at work reaches a person, and this call was made by a person.';

/** `ask`: a question that only a person may answer; the run waits for it. */
@Injectable()
export class AskVerb implements VerbHandler<AskArguments> {
  constructor(private readonly confirmations: ConfirmationsService) {}

  async invoke(args: AskArguments, { session, sessionId, runId, callId, signal }: VerbContext): Promise<VerbAnswer> {
    if (runId === null) return refused(NO_RUN);
    const { question, choices } = args;
    const call = { sessionId, project: session.project, runId, callId, verb: 'ask', arguments: args } as const;
    const row = await this.confirmations.ask({ ...call, origin: 'ask', question, choices, signal });
    return { ...answered(describeDecision(row)), outcome: OUTCOMES[row.state] };
  }
}

/** A denial is an answer as good as an approval; only without an answer the verb did not do what it is for. */
const OUTCOMES = { approved: 'ok', denied: 'ok', expired: 'failed', withdrawn: 'failed', open: 'error' } as const;

/** What a person decided, for the model that asked. */
export function describeDecision({ state, choice, reason }: ConfirmationEntity): string {
  const said = reason === '' ? '' : ` They said: ${reason}`;
  if (state === 'approved')
    return `A person approved.${choice === null ? '' : ` They chose ${JSON.stringify(choice)}.`}${said}`;
  if (state === 'denied') return `A person denied it.${said} Do not try to get around it.`;
  return state === 'expired' ? NOBODY_ANSWERED : `Nobody will answer: ${reason}.`;
}

const NOBODY_ANSWERED =
  'Nobody answered in time. That is not a denial: nothing was decided. Go on as far as you can without it, and say so in your summary.';
