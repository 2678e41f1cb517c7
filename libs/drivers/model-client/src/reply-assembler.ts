import { modelError } from './errors';
import type { ModelReply, ModelToolCall, ModelUsage, StopReason } from './model-client';

/** What this library relies on in one chunk of a streamed chat completion; everything is checked when it is used. */
export interface ReplyChunk {
  readonly choices?: readonly ReplyChoice[] | null;
  readonly usage?: { readonly prompt_tokens?: unknown; readonly completion_tokens?: unknown } | null;
}

interface ReplyChoice {
  readonly delta?: { readonly content?: unknown; readonly refusal?: unknown; readonly tool_calls?: unknown } | null;
  readonly finish_reason?: unknown;
}

interface ToolCallDelta {
  readonly index?: unknown;
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
}

interface PartialCall {
  id: string;
  name: string;
  arguments: string;
}

/** Longest reply that is taken, in characters, text and arguments together: a model writes at most some 100 KiB. */
export const MAX_REPLY_LENGTH = 4 * 1024 * 1024;
/** Most tool calls in one reply. */
export const MAX_TOOL_CALLS = 64;
const MAX_IDENTIFIER_LENGTH = 256;

/** Puts the chunks of one streamed reply together, in bounded memory. */
export class ReplyAssembler {
  private readonly texts: string[] = [];
  private readonly calls: PartialCall[] = [];
  private length = 0;
  private finish: string | null = null;
  private usage: ModelUsage | null = null;

  /** Takes the next chunk and gives the text it adds. Throws `MODEL_REPLY_INVALID` or `MODEL_REPLY_WITHHELD`. */
  add(chunk: ReplyChunk): string {
    this.usage = usageOf(chunk) ?? this.usage;
    const choice = chunk.choices?.[0];
    if (choice === undefined) return '';
    if (typeof choice.finish_reason === 'string') this.finish = choice.finish_reason;
    const text = textOf(choice.delta?.content) + textOf(choice.delta?.refusal);
    this.grow(text.length);
    if (text !== '') this.texts.push(text);
    const deltas: unknown = choice.delta?.tool_calls ?? [];
    if (!Array.isArray(deltas)) throw invalid('its tool calls are no list');
    for (const delta of deltas as readonly ToolCallDelta[]) this.addCall(delta);
    return text;
  }

  /** The whole reply. Throws `MODEL_REPLY_INVALID` when it has no end or calls a tool with no JSON object. */
  reply(): ModelReply {
    if (this.finish === null) throw invalid('it ended in the middle');
    if (this.finish === 'content_filter')
      throw modelError('MODEL_REPLY_WITHHELD', 'the reply was withheld by the provider');
    const stop = this.stopReason(this.finish);
    const toolCalls = stop === 'tool_use' ? this.calls.map(finished) : [];
    return { text: this.texts.join(''), toolCalls, stop, usage: this.usage };
  }

  // Some endpoints end a reply that has calls with "stop".
  private stopReason(finish: string): StopReason {
    if (finish === 'length') return 'length';
    return this.calls.length > 0 ? 'tool_use' : 'end';
  }

  private addCall(delta: ToolCallDelta): void {
    const index = typeof delta.index === 'number' ? delta.index : this.calls.length;
    if (index >= MAX_TOOL_CALLS) throw invalid(`it has more than ${MAX_TOOL_CALLS} tool calls`);
    if (index !== this.calls.length && this.calls[index] === undefined)
      throw invalid('its tool calls are out of order');
    const call = (this.calls[index] ??= { id: '', name: '', arguments: '' });
    const args = textOf(delta.function?.arguments);
    this.grow(args.length);
    call.arguments += args;
    call.id = identifier(call.id, delta.id);
    call.name = identifier(call.name, delta.function?.name);
  }

  private grow(characters: number): void {
    this.length += characters;
    if (this.length > MAX_REPLY_LENGTH) throw invalid(`it is longer than ${MAX_REPLY_LENGTH} characters`);
  }
}

function finished({ id, name, arguments: text }: PartialCall, index: number): ModelToolCall {
  if (name === '') throw invalid(`tool call ${index + 1} has no name`);
  const parsed = text.trim() === '' ? {} : parseJson(text); // no arguments at all is how some models write {}
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw invalid(`it calls ${name} with arguments that are no JSON object`, { tool: name });
  }
  return { id: id === '' ? `call-${index + 1}` : id, name, arguments: parsed };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// Endpoints send an identifier whole in the first delta of a call; some repeat it in every one.
function identifier(known: string, value: unknown): string {
  if (known !== '' || typeof value !== 'string') return known;
  if (value.length > MAX_IDENTIFIER_LENGTH) throw invalid('the id or name of a tool call is too long');
  return value;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function usageOf({ usage }: ReplyChunk): ModelUsage | null {
  const counts = [usage?.prompt_tokens, usage?.completion_tokens];
  if (!counts.every((count): count is number => Number.isSafeInteger(count) && (count as number) >= 0)) return null;
  const [inputTokens = 0, outputTokens = 0] = counts;
  return { inputTokens, outputTokens };
}

const invalid = (why: string, details: Readonly<Record<string, string>> = {}) =>
  modelError('MODEL_REPLY_INVALID', `the model's reply is not usable: ${why}`, details);
