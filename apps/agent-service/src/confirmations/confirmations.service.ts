import { Injectable, Logger } from '@nestjs/common';
import {
  CHOICE_LENGTH,
  CONFIRMATION_LENGTHS,
  type AnswerConfirmationRequest,
  type ConfirmationList,
  type ConfirmationOrigin,
  type ConfirmationState,
  type ConfirmationView,
  type ListConfirmationsRequest,
  type VerbName,
} from '@inquest/contracts-agent';
import { cutText } from '@inquest/contracts-base';
import { newId, type SessionId } from '@inquest/kernel';
import { untilStored } from '@inquest/persistence';
import { AgentServiceConfig } from '../agent-service.config';
import { Redaction } from '../transcript/redaction';
import { TranscriptsService } from '../transcript/transcripts.service';
import { describeCall, digestOfCall } from './call-arguments';
import { confirmationView } from './confirmation-view';
import type { ConfirmationEntity } from './confirmation.entity';
import { ConfirmationsRepository, EXPIRED, tokenBehind } from './confirmations.repository';

/** One call that waits for a person. */
export interface Inquiry {
  readonly sessionId: SessionId;
  readonly project: string;
  readonly runId: string;
  readonly callId: string;
  readonly verb: VerbName;
  /** As they were checked. */
  readonly arguments: object;
  readonly origin: ConfirmationOrigin;
  readonly question: string;
  readonly choices: readonly string[];
  /** Aborts when the run is to end. */
  readonly signal: AbortSignal;
}

/** A wait looks at the row itself this often: an answer that reached another process wakes nobody here. */
const LOOK_EVERY_MS = 20_000;
/** Room for the items of one reply; NATS refuses messages over 1 MiB and the envelope needs some of it. */
const PAGE_BYTES = 700 * 1024;
const RUN_STOPPED = 'the run was stopped before anybody answered';
const SERVICE_STARTED = 'agent-service was started again, which ended the run';

/**
 * Questions that only a person may answer. Each belongs to one call, which waits for it: an answer is used by that call
 * once, or by nobody. There is no limit on the time of a run; waiting is bounded by the expiry of the confirmation.
 */
@Injectable()
export class ConfirmationsService {
  private readonly log = new Logger(ConfirmationsService.name);

  constructor(
    private readonly config: AgentServiceConfig,
    private readonly confirmations: ConfirmationsRepository,
    private readonly transcripts: TranscriptsService,
    private readonly redaction: Redaction,
  ) {}

  /**
   * Asks, and waits until it is answered or expires. Throws `CONFIRMATION_ACTIVE`, what the database throws, and the
   * reason of the signal once that aborts; the confirmation is not open any more then.
   */
  async ask(inquiry: Inquiry): Promise<ConfirmationEntity> {
    const row = this.newConfirmation(inquiry);
    await this.confirmations.open(row);
    await this.note(row, 'asked');
    const settled = await this.settled(row, inquiry.signal);
    await this.note(settled, settled.state);
    inquiry.signal.throwIfAborted();
    return settled;
  }

  /** Newest first. */
  async list({ limit, nextToken, state }: ListConfirmationsRequest): Promise<ConfirmationList> {
    const page = await this.confirmations.page(limit, nextToken, state);
    const fitting = fittingInto(PAGE_BYTES, page.items);
    const last = fitting.at(-1);
    const isCut = last !== undefined && fitting.length < page.items.length;
    return { items: fitting.map(confirmationView), nextToken: isCut ? tokenBehind(last) : page.nextToken };
  }

  /** Throws `CONFIRMATION_UNKNOWN`. */
  async show(confirmationId: string): Promise<ConfirmationView> {
    return confirmationView(await this.confirmations.get(confirmationId));
  }

  /** Throws like `ConfirmationsRepository.answer`. */
  async answer(request: AnswerConfirmationRequest): Promise<ConfirmationView> {
    const reason = this.redaction.text(request.reason, CONFIRMATION_LENGTHS.reason);
    return confirmationView(await this.confirmations.answer(request, reason));
  }

  /** Withdraws what an earlier life of this service left open of a run, and completes its lines in the transcript. */
  async recover(runId: string): Promise<void> {
    for (const { confirmationId } of await this.confirmations.ofRun(runId)) {
      const row = await this.confirmations.lapse(confirmationId, { state: 'withdrawn', reason: SERVICE_STARTED });
      await this.noteEnds([row]);
    }
  }

  /** Adds what the transcript does not yet say of the confirmations of a run that has ended. */
  async complete(runId: string): Promise<void> {
    await this.noteEnds(await this.confirmations.ofRun(runId));
  }

  /** Adds what the transcript does not yet say of these. */
  async noteEnds(rows: readonly ConfirmationEntity[]): Promise<void> {
    for (const row of rows) await this.noteMissing(row);
  }

  private newConfirmation(inquiry: Inquiry): ConfirmationEntity {
    const { sessionId, project, runId, callId, verb, arguments: args, origin, question, choices } = inquiry;
    const argumentsText = origin === 'ask' ? '' : this.redaction.redact(describeCall(args));
    const askedAt = new Date();
    return {
      confirmationId: newId<string>('cnf'),
      sessionId,
      project,
      runId,
      callId,
      verb,
      argumentsDigest: digestOfCall(verb, args),
      origin,
      question: this.redaction.text(question, CONFIRMATION_LENGTHS.question),
      choices: choices.map((choice) => this.redaction.text(choice, CHOICE_LENGTH)),
      argumentsText: cutText(argumentsText, CONFIRMATION_LENGTHS.arguments),
      argumentsLength: argumentsText.length,
      state: 'open',
      choice: null,
      reason: '',
      by: null,
      answerRequestId: null,
      askedAt,
      expiresAt: new Date(askedAt.getTime() + this.config.confirmationTimeoutMs),
      endedAt: null,
    };
  }

  /** The row once it is not open any more, which it is not for longer than its time and the life of `signal`. */
  private async settled(
    { confirmationId, expiresAt }: ConfirmationEntity,
    signal: AbortSignal,
  ): Promise<ConfirmationEntity> {
    const wake = (): void => this.confirmations.notify([{ confirmationId }]);
    const isWanted = ({ state }: ConfirmationEntity): boolean => state !== 'open' || signal.aborted;
    const stored = <T>(work: () => Promise<T>): Promise<T> =>
      untilStored(work, {
        signal,
        onRetry: (e) => this.log.warn(`confirmation ${confirmationId} waits for the database`, e),
      });
    signal.addEventListener('abort', wake, { once: true });
    try {
      for (let leftMs = untilMs(expiresAt); !signal.aborted && leftMs > 0; leftMs = untilMs(expiresAt)) {
        const waitMs = Math.min(leftMs, LOOK_EVERY_MS);
        const row = await stored(() => this.confirmations.waitFor(confirmationId, isWanted, waitMs));
        if (row.state !== 'open') return row;
      }
      const lapse = signal.aborted ? ({ state: 'withdrawn', reason: RUN_STOPPED } as const) : EXPIRED;
      return await stored(() => this.confirmations.lapse(confirmationId, lapse));
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  private async noteMissing(row: ConfirmationEntity): Promise<void> {
    const noted = new Set<string>();
    for await (const entry of this.transcripts.entries(row.sessionId as SessionId)) {
      if (entry.type === 'confirmation' && entry.confirmationId === row.confirmationId) noted.add(entry.state);
    }
    if (!noted.has('asked')) await this.note(row, 'asked');
    if (!noted.has(row.state)) await this.note(row, row.state);
  }

  private note(row: ConfirmationEntity, state: ConfirmationState | 'asked'): Promise<void> {
    const { sessionId, runId, confirmationId, callId, question } = row;
    if (state === 'open') return Promise.resolve();
    const told = state === 'asked' ? { by: null, reason: '' } : { by: row.by, reason: row.reason };
    const body = { confirmationId, callId, question, state, ...told };
    return this.transcripts.append(sessionId as SessionId, runId, 'confirmation', body);
  }
}

const untilMs = (moment: Date): number => moment.getTime() - Date.now();

/** As many of the first rows as fit; at least one, because each does. */
function fittingInto(bytes: number, rows: readonly ConfirmationEntity[]): readonly ConfirmationEntity[] {
  let left = bytes;
  const count = rows.findIndex((row) => (left -= Buffer.byteLength(JSON.stringify(confirmationView(row)))) < 0);
  return count < 0 ? rows : rows.slice(0, Math.max(1, count));
}
