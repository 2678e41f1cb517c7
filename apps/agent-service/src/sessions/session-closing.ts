import { Injectable, Logger } from '@nestjs/common';
import { publishOps, PublishRequest, type PublicationView } from '@inquest/contracts-publish';
import { dto } from '@inquest/contracts-base';
import {
  DestroyMachineRequest,
  IncarnationRequest,
  ShutdownMachineRequest,
  type VerdictReport,
  type VerdictView,
} from '@inquest/contracts-vm';
import { hasCode, toDomainError, type SessionId } from '@inquest/kernel';
import { RpcClient } from '@inquest/messaging';
import { untilStored } from '@inquest/persistence';
import { VmClient } from '@inquest/vm-client';
import { TranscriptsService } from '../transcript/transcripts.service';
import { retryUnavailable } from './retry-unavailable';
import { sessionReport } from './session-report';
import type { SessionEntity } from './session.entity';
import { SessionsRepository } from './sessions.repository';

/** How long a guest has to power off before the verdict is drawn as it stands. */
const POWEROFF_WAIT_MS = 45_000;
/** How long each step waits for a service that is being restarted. */
const RETRY_MS = 60_000;

/** One session on its way out. */
interface Closing {
  readonly session: SessionEntity;
  readonly sessionId: SessionId;
  readonly signal: AbortSignal;
}

/** Takes a session from `closing` to `closed`: power off, verdict, publication, census. Safe to repeat. */
@Injectable()
export class SessionClosing {
  private readonly log = new Logger(SessionClosing.name);

  constructor(
    private readonly sessions: SessionsRepository,
    private readonly transcripts: TranscriptsService,
    private readonly machines: VmClient,
    private readonly rpc: RpcClient,
  ) {}

  /**
   * A step that fails is noted in the transcript and the next one is taken: nothing keeps the machine alive. Throws only
   * once `signal` aborts, and failures to write the transcript; the session is still `closing` then.
   */
  async close(session: SessionEntity, signal: AbortSignal): Promise<void> {
    const sessionId = session.sessionId as SessionId;
    const closing = { session, sessionId, signal };
    const verdict = await this.endMachine(closing);
    const publication = session.publishOnClose ? await this.publish(closing, verdict) : null;
    await this.transcripts.appendCensus(sessionId);
    await this.transcripts.appendOnce(sessionId, 'session_closed', { reason: session.reason });
    const end = { verdict, publication, closedAt: new Date(), ...stateAfter(session, verdict) };
    const write = async (): Promise<void> => {
      await this.transcripts.catchUp(sessionId);
      await this.sessions.change(sessionId, end);
    };
    await untilStored(write, {
      signal,
      onRetry: (e) => this.log.warn(`the end of session ${sessionId} is not stored yet`, e),
    });
    await this.transcripts.release(sessionId);
  }

  private async endMachine(closing: Closing): Promise<VerdictView | null> {
    const { session, sessionId, signal } = closing;
    const machineId = session.machineId ?? (await this.ownedMachine(closing));
    if (machineId === null) return null;
    const by = { machineId, by: sessionId };
    await this.attempt(closing, 'poweroff', async () => {
      const request = dto(ShutdownMachineRequest, { ...by, waitMs: POWEROFF_WAIT_MS });
      await this.machines.shutdown(request, { signal }).catch((e: unknown) => {
        // It does not run any more, or not yet: that is what this step is for.
        if (!hasCode(e, 'MACHINE_STATE_WRONG')) throw e;
      });
    });
    const report = await this.attempt(closing, 'verdict', () =>
      this.machines.verdict(dto(IncarnationRequest, { machineId }), { signal }),
    );
    const destroyed = await this.attempt(closing, 'destroy', () =>
      this.machines.destroy(dto(DestroyMachineRequest, by), { signal }),
    );
    if (report !== null) await this.noteVerdict(sessionId, report);
    return report?.verdict ?? destroyed?.verdict ?? null;
  }

  /** A machine whose start was not answered has the session as its owner all the same. */
  private async ownedMachine(closing: Closing): Promise<string | null> {
    const { sessionId, signal } = closing;
    const machine = await this.attempt(closing, 'find_machine', () => this.machines.findOwned(sessionId, { signal }));
    return machine?.machineId ?? null;
  }

  private noteVerdict(sessionId: SessionId, { machineId, incarnation, verdict }: VerdictReport): Promise<void> {
    return this.transcripts.appendOnce(sessionId, 'verdict', {
      machineId,
      incarnation,
      class: verdict.class,
      confidence: verdict.confidence,
      account: verdict.account,
      deciding: verdict.deciding.map(({ file, offset, quote }) => ({ file, offset, quote })),
    });
  }

  private async publish(closing: Closing, verdict: VerdictView | null): Promise<PublicationView | null> {
    const { session, sessionId, signal } = closing;
    const { project } = session;
    const report = await this.attempt(closing, 'report', () => sessionReport(this.transcripts, sessionId, verdict));
    const request = dto(PublishRequest, { project, sessionId, title: `Inquest session ${sessionId}`, report });
    const publication = await this.attempt(closing, 'publish', () =>
      this.rpc.call(publishOps.publish, request, { signal }).catch((e: unknown) => {
        if (!hasCode(e, 'PUBLISH_NOTHING_COMMITTED')) throw e;
        return 'nothing_committed' as const;
      }),
    );
    if (publication === null) return null;
    if (publication === 'nothing_committed') {
      const detail = 'the session made no commit';
      await this.transcripts.appendOnce(sessionId, 'host_event', { event: 'nothing_published', detail });
      return null;
    }
    await this.transcripts.appendOnce(sessionId, 'publication', {
      commit: publication.commit,
      branch: publication.branch,
      kept: [],
      held: publication.held,
      pushed: publication.isVerified,
      detail: publication.url ?? publication.message,
    });
    return publication;
  }

  private async attempt<T>({ sessionId, signal }: Closing, step: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await retryUnavailable(work, { withinMs: RETRY_MS, signal });
    } catch (e) {
      if (signal.aborted) throw e;
      const error = toDomainError(e);
      this.log.error(`session ${sessionId}: ${step} failed: ${error.message}`, e);
      const detail = `${error.message} ${error.remediation}`;
      const noted = this.transcripts.appendOnce(sessionId, 'host_event', { event: `${step}_failed`, detail });
      // A transcript that cannot be written must not keep the machine alive.
      await noted.catch((failure: unknown) => this.log.error(`session ${sessionId}: that could not be noted`, failure));
      return null;
    }
  }
}

function stateAfter(
  { error, message }: SessionEntity,
  verdict: VerdictView | null,
): Pick<SessionEntity, 'state' | 'message'> {
  // What went wrong says more than how the machine was ended because of it.
  if (error !== null) return { state: 'failed', message };
  return { state: 'closed', message: verdict?.account ?? 'no machine was running' };
}
