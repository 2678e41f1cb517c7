import { Inject, Injectable } from '@nestjs/common';
import { agentError, type ConfirmationPolicy, type DoneArguments } from '@inquest/contracts-agent';
import type { StreamTicket } from '@inquest/contracts-base';
import { isDomainError, newId, type RunId, type SessionId } from '@inquest/kernel';
import {
  MODEL_CLIENT,
  type ModelClient,
  type ModelMessage,
  type ModelReply,
  type ModelTool,
  type ModelToolCall,
} from '@inquest/model-client';
import { AgentServiceConfig } from '../agent-service.config';
import { TranscriptsService } from '../transcript/transcripts.service';
import { VerbDispatcher } from '../verbs/verb-dispatcher';
import { verbTools } from '../verbs/verb-tools';
import { RunsRepository } from './runs.repository';
import { showPicture } from './show-picture';

/** Longest answer that is asked of the model in one turn, in tokens. */
const MAX_TOKENS_PER_TURN = 8192;

/** Everything one run needs; the loop itself remembers nothing. */
export interface RunInput {
  readonly runId: RunId;
  readonly sessionId: SessionId;
  readonly system: string;
  readonly prompt: string;
  /** What a person must approve of in this run, besides what the session says. */
  readonly confirm: ConfirmationPolicy | null;
  readonly signal: AbortSignal;
}

/** Verb failures after which no further verb can succeed: nothing makes a session's machine run again. */
const MACHINE_GONE: readonly string[] = ['MACHINE_LOST', 'MACHINE_UNKNOWN', 'MACHINE_STATE_WRONG'];

/** Instead of tool results, after a reply that its length limit cut: a call in it was lost. */
const REPLY_WAS_CUT = `Your reply was cut after ${MAX_TOKENS_PER_TURN} tokens and no tool was called. Continue in smaller steps.`;

/** The model loop of one run: a turn, its verbs, the next turn, until `done`. */
@Injectable()
export class RunLoop {
  constructor(
    @Inject(MODEL_CLIENT) private readonly model: ModelClient,
    private readonly config: AgentServiceConfig,
    private readonly runs: RunsRepository,
    private readonly transcripts: TranscriptsService,
    private readonly verbs: VerbDispatcher,
  ) {}

  /**
   * The summary that `done` gave, or what the model said when it ended without calling a verb. Throws
   * `RUN_TURNS_EXHAUSTED`, `RUN_MODEL_FAILED`, `RUN_MACHINE_LOST`, and, once the signal aborts, whatever was under way.
   */
  async run(input: RunInput): Promise<string> {
    const messages: ModelMessage[] = [{ role: 'user', text: input.prompt }];
    const tools = verbTools();
    for (let turn = 1; turn <= this.config.runMaxTurns; turn++) {
      input.signal.throwIfAborted();
      const reply = await this.turn(input, messages, tools);
      await this.runs.change(input.runId, { turns: turn });
      messages.push({ role: 'assistant', text: reply.text, toolCalls: reply.toolCalls });
      if (reply.stop === 'length') {
        messages.push({ role: 'user', text: REPLY_WAS_CUT });
        continue;
      }
      if (reply.toolCalls.length === 0) return reply.text;
      const summary = await this.act(input, reply.toolCalls, messages);
      if (summary !== null) return summary;
    }
    throw agentError(
      'RUN_TURNS_EXHAUSTED',
      `run ${input.runId} used its ${this.config.runMaxTurns} turns without calling done`,
      {
        run: input.runId,
      },
    );
  }

  private async turn(
    input: RunInput,
    messages: readonly ModelMessage[],
    tools: readonly ModelTool[],
  ): Promise<ModelReply> {
    const request = { system: input.system, messages, tools, maxTokens: MAX_TOKENS_PER_TURN };
    const reply = await this.model.turn(request, input.signal).catch((e: unknown) => {
      if (input.signal.aborted || !isDomainError(e)) throw e;
      throw agentError(
        'RUN_MODEL_FAILED',
        `the model could not answer: ${e.message}`,
        { run: input.runId, code: e.code },
        e,
      );
    });
    await this.transcripts.append(input.sessionId, input.runId, 'model_turn', {
      text: reply.text,
      tokens: reply.usage === null ? null : { input: reply.usage.inputTokens, output: reply.usage.outputTokens },
    });
    return reply;
  }

  /** Does the verbs of a turn in order; the summary once one of them was a `done` that went through. */
  private async act(
    input: RunInput,
    calls: readonly ModelToolCall[],
    messages: ModelMessage[],
  ): Promise<string | null> {
    const pictures: StreamTicket[] = [];
    for (const call of calls) {
      input.signal.throwIfAborted();
      const { sessionId, runId, confirm, signal } = input;
      // The model's call id is its own text; ours names the call on the host (idempotent commits).
      const callId = newId<string>('call');
      const { result, errorCode } = await this.verbs.dispatch({
        sessionId,
        runId,
        callId,
        verb: call.name,
        arguments: call.arguments,
        confirm,
        signal,
      });
      messages.push({ role: 'tool', toolCallId: call.id, text: result.text });
      if (result.picture !== null) pictures.push(result.picture);
      if (errorCode !== null && MACHINE_GONE.includes(errorCode)) throw machineGone(errorCode, result.text);
      if (call.name === 'done' && result.outcome === 'ok') return (call.arguments as DoneArguments).summary;
    }
    // Behind all results of the turn, which must follow its calls.
    const picture = pictures.at(-1);
    if (picture !== undefined) await showPicture(messages, picture, input.signal);
    return null;
  }
}

const machineGone = (code: string, text: string) =>
  agentError('RUN_MACHINE_LOST', `the machine ended during the run: ${text}`, { code });
