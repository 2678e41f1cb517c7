import type {
  ChatCompletionContentPart,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from 'openai/resources/chat/completions';
import type { ModelMessage, ModelRequest, ModelTool } from './model-client';

/** The conversation in the words of the chat completions API; with `showsPictures` false, without its pictures. */
export const chatMessages = (
  { system, messages }: ModelRequest,
  { showsPictures }: { readonly showsPictures: boolean },
): ChatCompletionMessageParam[] => [
  { role: 'system', content: system },
  ...messages.map((message) => chatMessage(message, showsPictures)),
];

/** Whether anything in the conversation is a picture. */
export const hasPictures = ({ messages }: ModelRequest): boolean =>
  messages.some((message) => message.role === 'user' && message.picture !== undefined);

/** The tools in the words of the chat completions API. */
export const chatTools = (tools: readonly ModelTool[]): ChatCompletionTool[] =>
  tools.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } }));

function chatMessage(message: ModelMessage, showsPictures: boolean): ChatCompletionMessageParam {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: userContent(message, showsPictures) };
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.text };
    case 'assistant': {
      if (message.toolCalls.length === 0) return { role: 'assistant', content: message.text };
      const calls = message.toolCalls.map(({ id, name, arguments: args }) => ({
        type: 'function' as const,
        id,
        function: { name, arguments: JSON.stringify(args) },
      }));
      // The API wants null, not '', for a turn that only calls tools.
      return { role: 'assistant', content: message.text === '' ? null : message.text, tool_calls: calls };
    }
  }
}

/** Only users may show pictures, by a data URL. */
function userContent(
  { text, picture }: Extract<ModelMessage, { role: 'user' }>,
  showsPictures: boolean,
): string | ChatCompletionContentPart[] {
  if (picture === undefined) return text;
  if (!showsPictures) return `${text} (This endpoint takes no pictures, so it cannot be shown.)`;
  const url = `data:image/png;base64,${Buffer.from(picture).toString('base64')}`;
  return [
    { type: 'text', text },
    { type: 'image_url', image_url: { url } },
  ];
}
