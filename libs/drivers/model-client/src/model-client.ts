/** Nest token under which an app provides its `ModelClient`. */
export const MODEL_CLIENT = Symbol('MODEL_CLIENT');

/** A tool as it is offered to a model. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments; its type is `object`. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A tool that a model wants called. */
export interface ModelToolCall {
  /** The model's id of this call, to be given back with the result. Its own text: never a path or a key of ours. */
  readonly id: string;
  readonly name: string;
  /** A JSON object. Whether it fits the tool's schema is for the caller to check. */
  readonly arguments: unknown;
}

/** One message of a conversation, oldest first. Every tool call is followed by a `tool` message with its result. */
export type ModelMessage =
  /** `picture` is a PNG. A model that takes none is told so in its place. */
  | { readonly role: 'user'; readonly text: string; readonly picture?: Uint8Array }
  | { readonly role: 'assistant'; readonly text: string; readonly toolCalls: readonly ModelToolCall[] }
  | { readonly role: 'tool'; readonly toolCallId: string; readonly text: string };

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** Longest reply that is asked for. */
  readonly maxTokens: number;
}

/** Why a model stopped: it waits for tool results, it is finished, or the reply reached `maxTokens`. */
export const STOP_REASONS = ['tool_use', 'end', 'length'] as const;
export type StopReason = (typeof STOP_REASONS)[number];

export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface ModelReply {
  /** Everything that was passed to `onText`, joined. */
  readonly text: string;
  /** In the order in which the model wants them. Empty unless `stop` is `tool_use`: a reply that was cut has no calls. */
  readonly toolCalls: readonly ModelToolCall[];
  readonly stop: StopReason;
  /** Null when the endpoint does not count. */
  readonly usage: ModelUsage | null;
}

/** A language model. Stateless: every turn carries the whole conversation. */
export interface ModelClient {
  /** The model's name, for transcripts. */
  readonly name: string;

  /**
   * Asks for the next turn. `onText` gets the text as it arrives. Rejects with the codes of `modelError`, or with
   * `OPERATION_ABORTED` soon after `signal` aborts. A rejected turn may be asked again: nothing was changed by it, though
   * `onText` may have been called. Texts and calls of a reply are bounded in size and are as hostile as any input.
   */
  turn(request: ModelRequest, signal: AbortSignal, onText?: (delta: string) => void): Promise<ModelReply>;
}
