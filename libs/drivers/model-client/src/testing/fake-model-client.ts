import { kernelError } from '@inquest/kernel';
import { modelError } from '../errors';
import type { ModelClient, ModelReply, ModelRequest, ModelToolCall } from '../model-client';

/** What a fake model does in one turn: says something, calls tools, or fails. */
export type FakeTurn =
  | { readonly say?: string; readonly calls?: readonly Omit<ModelToolCall, 'id'>[] }
  | { readonly fail: keyof typeof modelError.table };

/**
 * A model that plays a list of turns. Stateless like a real one: the turn is chosen by how many assistant messages the
 * conversation has. After the last turn it says "end of script".
 */
export class FakeModelClient implements ModelClient {
  readonly name = 'fake';
  /** Every request that was made, oldest first. */
  readonly requests: ModelRequest[] = [];

  constructor(private readonly turns: readonly FakeTurn[]) {}

  turn(request: ModelRequest, signal: AbortSignal, onText: (delta: string) => void = ignore): Promise<ModelReply> {
    if (signal.aborted) return Promise.reject(kernelError('OPERATION_ABORTED', 'the model turn was cancelled'));
    this.requests.push(request);
    const index = request.messages.filter(({ role }) => role === 'assistant').length;
    const turn = this.turns[index] ?? { say: 'end of script' };
    if ('fail' in turn) return Promise.reject(modelError(turn.fail, 'the fake model was told to fail'));
    const text = turn.say ?? '';
    for (const delta of text.match(/\S*\s*/gu) ?? []) if (delta !== '') onText(delta);
    const toolCalls = (turn.calls ?? []).map((call, position) => ({
      id: `call-${index + 1}-${position + 1}`,
      ...call,
    }));
    return Promise.resolve({ text, toolCalls, stop: toolCalls.length > 0 ? 'tool_use' : 'end', usage: null });
  }
}

const ignore = (): void => undefined;
