import OpenAI from 'openai';
import type { ChatCompletionChunk, ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import { delay, kernelError, type DomainError } from '@inquest/kernel';
import { redactTokenShapes } from '@inquest/transcript';
import { boundedFetch } from './bounded-fetch';
import { endpointFailure } from './endpoint-failure';
import type { ModelClient, ModelReply, ModelRequest } from './model-client';
import { chatMessages, chatTools, hasPictures } from './openai-messages';
import { Patience } from './patience';
import { MAX_REPLY_LENGTH, ReplyAssembler } from './reply-assembler';
import { retryPauseMs } from './retry';

export interface OpenAiModelClientOptions {
  /** Up to and including `/v1`. Must hold no credentials. */
  readonly baseUrl: string;
  readonly model: string;
  /** Null for an endpoint that wants none. */
  readonly apiKey: string | null;
  /** Which of the two names of the same limit the endpoint knows; OpenAI's reasoning models only the second. */
  readonly tokenLimit?: 'max_tokens' | 'max_completion_tokens';
  /** Longest silence of the endpoint before and within a reply, in ms. Default 120 000. */
  readonly idleTimeoutMs?: number;
  /** Longest turn including retries, in ms. Default 900 000. */
  readonly turnTimeoutMs?: number;
  /** Retries of a turn that was refused (429, 5xx) or did not reach the endpoint, with growing pauses. Default 2. */
  readonly maxRetries?: number;
}

// A reasoning model may think this long before its first token.
const DEFAULT_IDLE_TIMEOUT_MS = 120_000;
const DEFAULT_TURN_TIMEOUT_MS = 900_000;
const DEFAULT_MAX_RETRIES = 2;
// Each token of a streamed reply travels in a chunk of some 300 bytes of JSON.
const MAX_RESPONSE_BYTES = 64 * MAX_REPLY_LENGTH;

/** A model behind any endpoint that speaks OpenAI's chat completions API with streaming and tool calls. */
export class OpenAiModelClient implements ModelClient {
  readonly name: string;
  private readonly sdk: OpenAI;
  /** False once a turn that was refused went through without them: there is no way to ask. */
  private takesPictures = true;

  constructor(private readonly options: OpenAiModelClientOptions) {
    this.name = options.model;
    // Everything the SDK would otherwise read from its own environment variables is set here.
    this.sdk = new OpenAI({
      baseURL: options.baseUrl,
      apiKey: options.apiKey ?? 'none',
      organization: null,
      project: null,
      webhookSecret: null,
      logLevel: 'off',
      maxRetries: 0, // its own ones do not stop when the signal aborts
      timeout: options.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS,
      fetch: boundedFetch(MAX_RESPONSE_BYTES),
    });
  }

  async turn(
    request: ModelRequest,
    signal: AbortSignal,
    onText: (delta: string) => void = ignore,
  ): Promise<ModelReply> {
    const patience = new Patience(
      this.options.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS,
      this.options.turnTimeoutMs ?? DEFAULT_TURN_TIMEOUT_MS,
    );
    const stop = AbortSignal.any([signal, patience.signal]);
    try {
      return await this.stream(request, stop, patience, onText);
    } catch (e) {
      if (signal.aborted) throw kernelError('OPERATION_ABORTED', 'the model turn was cancelled', {}, signal.reason);
      throw patience.lost ?? this.failure(e);
    } finally {
      patience.end();
    }
  }

  private async stream(
    request: ModelRequest,
    signal: AbortSignal,
    patience: Patience,
    onText: (delta: string) => void,
  ): Promise<ModelReply> {
    const assembler = new ReplyAssembler();
    const chunks = await this.openPatiently(request, signal);
    patience.heard();
    for await (const chunk of chunks) {
      patience.heard();
      const text = assembler.add(chunk);
      if (text !== '') onText(text);
    }
    return assembler.reply();
  }

  // Only the beginning is tried again: once text went to the caller, a second reply would contradict it.
  private async openPatiently(request: ModelRequest, signal: AbortSignal): Promise<AsyncIterable<ChatCompletionChunk>> {
    let showsPictures = this.takesPictures && hasPictures(request);
    for (let retries = 0; ; retries++) {
      try {
        const chunks = await this.open(request, showsPictures, signal);
        this.takesPictures &&= showsPictures || !hasPictures(request);
        return chunks;
      } catch (e) {
        if (showsPictures && this.failure(e).code === 'MODEL_REQUEST_REFUSED') {
          showsPictures = false;
          continue;
        }
        const pauseMs = retries < (this.options.maxRetries ?? DEFAULT_MAX_RETRIES) ? retryPauseMs(e, retries) : null;
        if (pauseMs === null || signal.aborted) throw e;
        await delay(pauseMs, signal);
      }
    }
  }

  private open(
    request: ModelRequest,
    showsPictures: boolean,
    signal: AbortSignal,
  ): Promise<AsyncIterable<ChatCompletionChunk>> {
    const body: ChatCompletionCreateParamsStreaming = {
      model: this.options.model,
      messages: chatMessages(request, { showsPictures }),
      stream: true,
      stream_options: { include_usage: true },
      [this.options.tokenLimit ?? 'max_tokens']: request.maxTokens,
      ...(request.tools.length === 0 ? {} : { tools: chatTools(request.tools) }),
    };
    return this.sdk.chat.completions.create(body, { signal });
  }

  private failure(e: unknown): DomainError {
    return endpointFailure(e, this.options.baseUrl, (text) => this.hideKey(text));
  }

  // An endpoint may quote the key that it refuses.
  private hideKey(text: string): string {
    const { apiKey } = this.options;
    return redactTokenShapes(apiKey === null || apiKey === '' ? text : text.replaceAll(apiKey, '[redacted model key]'));
  }
}

const ignore = (): void => undefined;
