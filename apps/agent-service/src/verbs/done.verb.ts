import { Injectable } from '@nestjs/common';
import type { DoneArguments } from '@inquest/contracts-agent';
import { answered, type VerbAnswer, type VerbHandler } from './verb-context';

/** `done`: what the run loop ends on; by hand it only leaves its summary in the transcript. */
@Injectable()
export class DoneVerb implements VerbHandler<DoneArguments> {
  invoke({ summary }: DoneArguments): Promise<VerbAnswer> {
    return Promise.resolve(answered(summary));
  }
}
