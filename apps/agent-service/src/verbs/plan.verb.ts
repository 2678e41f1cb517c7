import { Injectable } from '@nestjs/common';
import type { PlanArguments } from '@inquest/contracts-agent';
import { SessionsRepository } from '../sessions/sessions.repository';
import { TranscriptsService } from '../transcript/transcripts.service';
import { answered, type VerbAnswer, type VerbContext, type VerbHandler } from './verb-context';

/** `plan`: recorded in the transcript; from then on the verbs that change the machine are allowed. */
@Injectable()
export class PlanVerb implements VerbHandler<PlanArguments> {
  constructor(
    private readonly sessions: SessionsRepository,
    private readonly transcripts: TranscriptsService,
  ) {}

  async invoke({ plan }: PlanArguments, { sessionId, runId }: VerbContext): Promise<VerbAnswer> {
    const steps = plan
      .split('\n')
      // The transcript numbers the steps itself.
      .map((step) => step.trim().replace(/^(?:\d{1,3}[.)]|[-*])\s+/, ''))
      .filter((step) => step !== '');
    await this.transcripts.append(sessionId, runId, 'plan_recorded', { steps });
    await this.sessions.change(sessionId, { hasPlan: true });
    return answered('Plan recorded.');
  }
}
