import { Injectable } from '@nestjs/common';
import {
  agentError,
  isVerbName,
  VERB_NAMES,
  VERBS,
  type ConfirmationPolicy,
  type VerbName,
  type VerbResult,
} from '@inquest/contracts-agent';
import { isDomainError, toDomainError, type RunId, type SessionId } from '@inquest/kernel';
import { parseDto } from '@inquest/config';
import { needsPerson } from '../confirmations/confirmation-policy';
import { ConfirmationsService } from '../confirmations/confirmations.service';
import { SessionsRepository } from '../sessions/sessions.repository';
import { TranscriptsService } from '../transcript/transcripts.service';
import { AskVerb, describeDecision } from './ask.verb';
import { CheckInternetVerb } from './check-internet.verb';
import { DoneVerb } from './done.verb';
import { ListFilesVerb, ReadFileVerb, WriteFileVerb } from './file-verbs';
import { GitCommitVerb } from './git-commit.verb';
import { PlanVerb } from './plan.verb';
import { RunVerb } from './run.verb';
import { ScreenshotVerb } from './screenshot.verb';
import { refused, type VerbAnswer, type VerbContext, type VerbHandler } from './verb-context';

/** A call of a verb before anything about it was checked. */
export interface VerbCall {
  readonly sessionId: SessionId;
  readonly runId: RunId | null;
  readonly callId: string;
  readonly verb: string;
  readonly arguments: unknown;
  /** What a person must approve of in its run, besides what the session says; null: nothing. */
  readonly confirm: ConfirmationPolicy | null;
  readonly signal: AbortSignal;
}

/** What became of a call: the answer, and the failure that ended it, if one did. */
export interface DispatchedVerb {
  readonly result: VerbResult;
  readonly errorCode: string | null;
}

const PLAN_FIRST =
  'Refused: no plan is recorded yet. Call plan with the steps you are going to take; verbs that change the machine are allowed from then on.';

/** The one way in to every verb: checks, does, and records each call in the transcript, whatever became of it. */
@Injectable()
export class VerbDispatcher {
  private readonly handlers: Readonly<Record<VerbName, VerbHandler<never>>>;

  constructor(
    private readonly sessions: SessionsRepository,
    private readonly transcripts: TranscriptsService,
    private readonly confirmations: ConfirmationsService,
    plan: PlanVerb,
    run: RunVerb,
    readFile: ReadFileVerb,
    writeFile: WriteFileVerb,
    listFiles: ListFilesVerb,
    screenshot: ScreenshotVerb,
    checkInternet: CheckInternetVerb,
    gitCommit: GitCommitVerb,
    ask: AskVerb,
    done: DoneVerb,
  ) {
    this.handlers = {
      plan,
      run,
      read_file: readFile,
      write_file: writeFile,
      list_files: listFiles,
      screenshot,
      check_internet: checkInternet,
      git_commit: gitCommit,
      ask,
      done,
    };
  }

  /**
   * Does one verb and records it. A failure of the verb is an answer (`error`, with the text of what went wrong), not
   * an exception. Throws only `SESSION_UNKNOWN`, `SESSION_STATE_WRONG` and failures to write the transcript.
   */
  async dispatch(call: VerbCall): Promise<DispatchedVerb> {
    const session = await this.sessions.get(call.sessionId);
    if (session.state !== 'ready' || session.machineId === null) {
      const message = `session ${call.sessionId} is ${session.state}, so no verb can act on its machine`;
      throw agentError('SESSION_STATE_WRONG', message, { session: call.sessionId, state: session.state });
    }
    const clock = new CallClock();
    const { answer, errorCode } = await this.answer(call, { ...call, session, machineId: session.machineId }, clock);
    const { startedAtMs, durationMs } = clock.read();
    await this.transcripts.append(call.sessionId, call.runId, 'verb', {
      callId: call.callId,
      verb: call.verb.slice(0, 64),
      arguments: toJson(call.arguments),
      startedAtMs,
      durationMs,
      outcome: answer.outcome,
      summary: answer.text,
      bytes: answer.sizeBytes,
    });
    const { outcome, text, picture = null } = answer;
    return { result: { outcome, text, durationMs, picture }, errorCode };
  }

  private async answer(
    call: VerbCall,
    context: VerbContext,
    clock: CallClock,
  ): Promise<{ answer: VerbAnswer; errorCode: string | null }> {
    try {
      return { answer: await this.checkedAnswer(call, context, clock), errorCode: null };
    } catch (e) {
      const error = toDomainError(e);
      const text = isDomainError(e) ? `${error.message}\n${error.remediation}` : error.message;
      return { answer: { outcome: 'error', text, sizeBytes: 0 }, errorCode: error.code };
    }
  }

  private async checkedAnswer(call: VerbCall, context: VerbContext, clock: CallClock): Promise<VerbAnswer> {
    const { verb } = call;
    if (!isVerbName(verb)) {
      throw agentError('VERB_UNKNOWN', `there is no verb "${verb.slice(0, 64)}"; there are: ${VERB_NAMES.join(', ')}`);
    }
    const args = parseArguments(verb, call.arguments);
    if (VERBS[verb].changesMachine && !context.session.hasPlan) return refused(PLAN_FIRST);
    const refusal = await this.refusalByPerson(verb, args, call, context);
    if (refusal !== null) return refused(refusal);
    clock.restart();
    return (this.handlers[verb] as VerbHandler).invoke(args, context);
  }

  /** Waits for a person where one has to approve. Null: it may be done. */
  private async refusalByPerson(
    verb: VerbName,
    args: object,
    { confirm }: VerbCall,
    { session, sessionId, runId, callId, signal }: VerbContext,
  ): Promise<string | null> {
    const policies = [session.confirm, confirm].filter((policy) => policy !== null);
    // Whoever invokes a verb by hand is the person.
    if (runId === null || verb === 'ask' || !needsPerson(policies, verb, args)) return null;
    const row = await this.confirmations.ask({
      sessionId,
      project: session.project,
      runId,
      callId,
      verb,
      arguments: args,
      origin: 'policy',
      question: `The model wants to call ${verb}. A person has to approve of it.`,
      choices: [],
      signal,
    });
    if (row.state === 'approved') return null;
    return `Refused: this call needs a person to approve of it. ${describeDecision(row)} It was not done.`;
  }
}

/** When a call began and how long it took, without the time in which a person was waited for. */
class CallClock {
  private startedAtMs = Date.now();
  private started = performance.now();

  restart(): void {
    this.startedAtMs = Date.now();
    this.started = performance.now();
  }

  read(): { readonly startedAtMs: number; readonly durationMs: number } {
    return { startedAtMs: this.startedAtMs, durationMs: Math.round(performance.now() - this.started) };
  }
}

function parseArguments(verb: VerbName, raw: unknown): object {
  try {
    return parseDto(VERBS[verb].arguments, raw);
  } catch (e) {
    if (!isDomainError(e)) throw e;
    throw agentError('VERB_ARGUMENTS_INVALID', `${verb}: ${e.message}`, { verb }, e);
  }
}

const toJson = (value: unknown): null => JSON.parse(JSON.stringify(value ?? null)) as null;
