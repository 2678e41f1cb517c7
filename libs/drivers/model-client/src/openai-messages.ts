import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions';
import type { ModelMessage, ModelRequest, ModelTool } from './model-client';

/** The conversation in the words of the chat completions API. */
export const chatMessages = ({ system, messages }: ModelRequest): ChatCompletionMessageParam[] => [
  { role: 'system', content: system },
  ...messages.map(chatMessage),
];

/** The tools in the words of the chat completions API. */
export const chatTools = (tools: readonly ModelTool[]): ChatCompletionTool[] =>
  tools.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } }));

function chatMessage(message: ModelMessage): ChatCompletionMessageParam {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.text };
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
