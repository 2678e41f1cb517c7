import { ApiFailure } from './api-failure';
import { isRecord, unknownProperty } from './shape';

/** What a checked request asks for. */
export interface ChatRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** How many turns the model had before. */
  readonly turnsSoFar: number;
  /** What the person asked for: the first message of a user. */
  readonly asked: string;
  /** Length of all texts of the conversation, in characters. */
  readonly conversationLength: number;
}

type Properties = Readonly<Record<string, unknown>>;

// The request parameters of the chat completions API that an agent has a use for; the API refuses unknown ones too.
const KNOWN_PARAMETERS: readonly string[] = [
  'model',
  'messages',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'stop',
  'n',
  'seed',
  'user',
  'reasoning_effort',
];
const ROLES: readonly unknown[] = ['system', 'developer', 'user', 'assistant', 'tool'];
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/; // as the API documents it

/** Checks the body of a chat completion request as strictly as the API does. Throws `ApiFailure` with status 400. */
export function parseChatRequest(body: unknown): ChatRequest {
  if (!isRecord(body)) throw refused('the body is no JSON object');
  const unknown = unknownProperty(body, KNOWN_PARAMETERS);
  if (unknown !== null) throw refused(`Unknown parameter: '${unknown}'.`, unknown);
  const { model, messages, stream = false } = body;
  if (typeof model !== 'string' || model === '') throw refused('you must provide a model parameter', 'model');
  if (typeof stream !== 'boolean') throw refused("'stream' is no boolean", 'stream');
  if (!Array.isArray(messages) || messages.length === 0)
    throw refused("'messages' is no list with at least one message", 'messages');
  checkLimits(body);
  checkTools(body['tools']);
  const conversation = (messages as readonly unknown[]).map(checkMessage);
  checkToolAnswers(conversation);
  return {
    model,
    stream,
    includeUsage: includesUsage(body['stream_options'], stream),
    turnsSoFar: conversation.filter(({ role }) => role === 'assistant').length,
    asked: textOf(conversation.find(({ role }) => role === 'user')?.['content']),
    conversationLength: JSON.stringify(conversation.map(({ content }) => content)).length,
  };
}

function checkLimits(body: Properties): void {
  for (const limit of ['max_tokens', 'max_completion_tokens'] as const) {
    const value = body[limit];
    if (value === undefined || (Number.isSafeInteger(value) && (value as number) > 0)) continue;
    throw refused(`'${limit}' is no positive integer`, limit);
  }
}

function includesUsage(options: unknown, stream: boolean): boolean {
  if (options === undefined || options === null) return false;
  if (!stream) throw refused("'stream_options' is only allowed when 'stream' is true", 'stream_options');
  if (!isRecord(options)) throw refused("'stream_options' is no object", 'stream_options');
  return options['include_usage'] === true;
}

function checkTools(tools: unknown): void {
  if (tools === undefined) return;
  if (!Array.isArray(tools) || tools.length === 0) throw refused("'tools' is no list with at least one tool", 'tools');
  const names = (tools as readonly unknown[]).map((tool, index) => {
    const definition =
      isRecord(tool) && tool['type'] === 'function' && isRecord(tool['function']) ? tool['function'] : {};
    const { name, parameters = {} } = definition;
    if (typeof name !== 'string' || !TOOL_NAME.test(name))
      throw refused('a tool is no function with a valid name', `tools[${index}]`);
    if (!isRecord(parameters))
      throw refused(`the parameters of ${name} are no JSON Schema`, `tools[${index}].function.parameters`);
    return name;
  });
  if (new Set(names).size < names.length) throw refused('two tools have the same name', 'tools');
}

function checkMessage(message: unknown, index: number): Properties {
  const at = `messages[${index}]`;
  if (!isRecord(message)) throw refused('a message is no object', at);
  const { role, content, tool_calls: calls, tool_call_id: callId } = message;
  if (!ROLES.includes(role)) throw refused('a message has no known role', `${at}.role`);
  const isSilent = role === 'assistant' && calls !== undefined && (content === null || content === undefined);
  if (!isSilent && !isContent(content)) throw refused('the content of a message is no text', `${at}.content`);
  if (calls !== undefined && role !== 'assistant') throw refused('only an assistant calls tools', `${at}.tool_calls`);
  if ((role === 'tool') !== (typeof callId === 'string'))
    throw refused('a tool message needs its tool_call_id', `${at}.tool_call_id`);
  return message;
}

/** Of a content that was checked. */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : '';
  return (content as readonly Properties[]).map(({ text }) => (typeof text === 'string' ? text : '')).join('');
}

const isContent = (content: unknown): boolean =>
  typeof content === 'string' ||
  (Array.isArray(content) && content.every((part) => isRecord(part) && typeof part['type'] === 'string'));

/** Every tool call must be answered by a tool message right after it, and nothing else may be answered. */
function checkToolAnswers(messages: readonly Properties[]): void {
  let open = new Set<unknown>();
  messages.forEach((message, index) => {
    if (message['role'] === 'tool') {
      if (open.delete(message['tool_call_id'])) return;
      throw refused(
        "a message with role 'tool' must answer a preceding message with 'tool_calls'",
        `messages[${index}]`,
      );
    }
    if (open.size > 0) throw unanswered(index);
    open = new Set(callIds(message['tool_calls'], index));
  });
  if (open.size > 0) throw unanswered(messages.length);
}

function callIds(calls: unknown, index: number): readonly string[] {
  if (calls === undefined) return [];
  if (!Array.isArray(calls) || calls.length === 0)
    throw refused("'tool_calls' is no list with at least one call", `messages[${index}].tool_calls`);
  return (calls as readonly unknown[]).map((call) => {
    const { id, function: called } = isRecord(call) ? call : {};
    if (
      typeof id === 'string' &&
      isRecord(called) &&
      typeof called['arguments'] === 'string' &&
      typeof called['name'] === 'string'
    )
      return id;
    throw refused('a tool call has no id, name or arguments', `messages[${index}].tool_calls`);
  });
}

const unanswered = (index: number): ApiFailure =>
  refused(
    "an assistant message with 'tool_calls' must be followed by tool messages that answer each of them",
    `messages[${index - 1}]`,
  );

const refused = (message: string, param: string | null = null): ApiFailure => new ApiFailure(400, message, null, param);
