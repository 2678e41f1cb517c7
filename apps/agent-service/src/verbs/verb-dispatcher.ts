import { Injectable } from '@nestjs/common';
import { agentError, isVerbName, VERB_NAMES, VERBS, type VerbName, type VerbResult } from '@inquest/contracts-agent';
import { isDomainError, toDomainError, type RunId, type SessionId } from '@inquest/kernel';
import { parseDto } from '@inquest/config';
import { SessionsRepository } from '../sessions/sessions.repository';
import { TranscriptsService } from '../transcript/transcripts.service';
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
    plan: PlanVerb,
    run: RunVerb,
    readFile: ReadFileVerb,
    writeFile: WriteFileVerb,
    listFiles: ListFilesVerb,
    screenshot: ScreenshotVerb,
    checkInternet: CheckInternetVerb,
    gitCommit: GitCommitVerb,
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
    const startedAtMs = Date.now();
    const started = performance.now();
    const { answer, errorCode } = await this.answer(call, { ...call, session, machineId: session.machineId });
    const durationMs = Math.round(performance.now() - started);
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
  ): Promise<{ answer: VerbAnswer; errorCode: string | null }> {
    try {
      return { answer: await this.checkedAnswer(call, context), errorCode: null };
    } catch (e) {
      const error = toDomainError(e);
      const text = isDomainError(e) ? `${error.message}\n${error.remediation}` : error.message;
      return { answer: { outcome: 'error', text, sizeBytes: 0 }, errorCode: error.code };
    }
  }

  private async checkedAnswer(call: VerbCall, context: VerbContext): Promise<VerbAnswer> {
    const { verb } = call;
    if (!isVerbName(verb)) {
      throw agentError('VERB_UNKNOWN', `there is no verb "${verb.slice(0, 64)}"; there are: ${VERB_NAMES.join(', ')}`);
    }
    const args = parseArguments(verb, call.arguments);
    if (VERBS[verb].changesMachine && !context.session.hasPlan) return refused(PLAN_FIRST);
    return (this.handlers[verb] as VerbHandler).invoke(args, context);
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
