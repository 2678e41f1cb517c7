import type { VerbOutcome } from '@inquest/contracts-agent';
import type { StreamTicket } from '@inquest/contracts-base';
import type { RunId, SessionId } from '@inquest/kernel';
import type { SessionEntity } from '../sessions/session.entity';

/** One call of a verb, as its handler sees it. */
export interface VerbContext {
  readonly session: SessionEntity;
  readonly sessionId: SessionId;
  readonly machineId: string;
  readonly runId: RunId | null;
  /** Id of the call: the model's, or made for a call by hand. */
  readonly callId: string;
  readonly signal: AbortSignal;
}

/** What a handler answers. The text is read by a model or a person. */
export interface VerbAnswer {
  readonly outcome: VerbOutcome;
  readonly text: string;
  /** Size of the whole result, of which the text may be a part. */
  readonly sizeBytes: number;
  /** Where a picture that belongs to the answer can be fetched, once. */
  readonly picture?: StreamTicket;
}

export const answered = (text: string, sizeBytes = Buffer.byteLength(text)): VerbAnswer => ({
  outcome: 'ok',
  text,
  sizeBytes,
});

/** Not done; the text says why and what to do instead. */
export const refused = (text: string): VerbAnswer => ({ outcome: 'refused', text, sizeBytes: 0 });

/** A verb: validated arguments in, an answer out. Throws what the services throw. */
export interface VerbHandler<Arguments extends object = object> {
  invoke(args: Arguments, context: VerbContext): Promise<VerbAnswer>;
}
