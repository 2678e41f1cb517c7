import { Injectable, Logger } from '@nestjs/common';
import { publishOps, type PublicationView } from '@inquest/contracts-publish';
import { dto } from '@inquest/contracts-shared';
import {
  DestroyMachineRequest,
  IncarnationRequest,
  ShutdownMachineRequest,
  type VerdictReport,
  type VerdictView,
} from '@inquest/contracts-vm';
import { hasCode, toDomainError, type SessionId } from '@inquest/kernel';
import { RpcClient } from '@inquest/messaging';
import { VmClient } from '@inquest/vm-client';
import { TranscriptsService } from '../transcript/transcripts.service';
import type { SessionEntity } from './session.entity';
import { SessionsRepository } from './sessions.repository';

/** How long a guest has to power off before the verdict is drawn as it stands. */
const POWEROFF_WAIT_MS = 45_000;

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

  /** Never leaves the machine behind: what fails on the way is noted in the transcript and the next step is taken. */
  async close(session: SessionEntity): Promise<void> {
    const sessionId = session.sessionId as SessionId;
    const { machineId } = session;
    const verdict = machineId === null ? null : await this.endMachine(sessionId, machineId);
    const publication = session.publishOnClose ? await this.publish(session) : null;
    await this.transcripts.appendCensus(sessionId);
    await this.transcripts.append(sessionId, null, 'session_closed', { reason: session.reason });
    await this.transcripts.release(sessionId);
    await this.sessions.change(sessionId, {
      state: session.error === null ? 'closed' : 'failed',
      verdict,
      publication,
      closedAt: new Date(),
    });
  }

  private async endMachine(sessionId: SessionId, machineId: string): Promise<VerdictView | null> {
    await this.attempt(sessionId, 'poweroff', () =>
      this.machines.shutdown(dto(ShutdownMachineRequest, { machineId, waitMs: POWEROFF_WAIT_MS, by: sessionId })),
    );
    const report = await this.attempt(sessionId, 'verdict', () =>
      this.machines.verdict(dto(IncarnationRequest, { machineId })),
    );
    if (report !== null) await this.noteVerdict(sessionId, report);
    const destroyed = await this.attempt(sessionId, 'destroy', () =>
      this.machines.destroy(dto(DestroyMachineRequest, { machineId, by: sessionId })),
    );
    return report?.verdict ?? destroyed?.verdict ?? null;
  }

  private noteVerdict(sessionId: SessionId, { machineId, incarnation, verdict }: VerdictReport): Promise<void> {
    return this.transcripts.append(sessionId, null, 'verdict', {
      machineId,
      incarnation,
      class: verdict.class,
      confidence: verdict.confidence,
      account: verdict.account,
      deciding: verdict.deciding.map(({ file, offset, quote }) => ({ file, offset, quote })),
    });
  }

  private async publish(session: SessionEntity): Promise<PublicationView | null> {
    const sessionId = session.sessionId as SessionId;
    if (!session.hasCommit) {
      await this.transcripts.append(sessionId, null, 'host_event', {
        event: 'nothing_published',
        detail: 'the session made no commit',
      });
      return null;
    }
    const request = { project: session.project, sessionId, title: `Inquest session ${sessionId}` };
    const publication = await this.attempt(sessionId, 'publish', () => this.rpc.call(publishOps.publish, request));
    if (publication === null) return null;
    await this.transcripts.append(sessionId, null, 'publication', {
      commit: publication.commit,
      branch: publication.branch,
      kept: [],
      held: publication.held,
      pushed: publication.state === 'published' && publication.isVerified,
      detail: publication.url ?? publication.message,
    });
    return publication;
  }

  private async attempt<T>(sessionId: SessionId, step: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (e) {
      // Already gone is what this step is for.
      if (hasCode(e, 'MACHINE_STATE_WRONG') && step === 'poweroff') return null;
      const error = toDomainError(e);
      this.log.error(`session ${sessionId}: ${step} failed: ${error.message}`, e);
      await this.transcripts.append(sessionId, null, 'host_event', {
        event: `${step}_failed`,
        detail: `${error.message} ${error.remediation}`,
      });
      return null;
    }
  }
}
