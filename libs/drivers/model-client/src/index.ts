export { modelError } from './errors';
export {
  MODEL_CLIENT,
  STOP_REASONS,
  type ModelClient,
  type ModelMessage,
  type ModelReply,
  type ModelRequest,
  type ModelTool,
  type ModelToolCall,
  type ModelUsage,
  type StopReason,
} from './model-client';
export { OpenAiModelClient, type OpenAiModelClientOptions } from './openai-model-client';
