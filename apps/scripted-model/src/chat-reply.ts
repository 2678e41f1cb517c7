import type { ChatRequest } from './chat-request';
import type { ScriptedTurn } from './scenario';

interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

/** One turn as the chat completions API answers it, whole or in chunks. */
export class ChatReply {
  constructor(
    private readonly id: string,
    private readonly createdAtMs: number,
    private readonly request: ChatRequest,
    private readonly turn: ScriptedTurn,
  ) {}

  /** The `chat.completion` object. */
  whole(): object {
    const { say } = this.turn;
    const calls = this.calls();
    const message = { role: 'assistant', content: say === '' ? null : say, refusal: null };
    const withCalls = calls.length === 0 ? message : { ...message, tool_calls: calls };
    const choice = { index: 0, message: withCalls, logprobs: null, finish_reason: this.finishReason() };
    return { ...this.head('chat.completion'), choices: [choice], usage: this.usage() };
  }

  /** The `chat.completion.chunk` objects of a stream: the role, the text word by word, the calls in pieces, the end. */
  chunks(): readonly object[] {
    const deltas = [{ role: 'assistant', content: '' }, ...this.textDeltas(), ...this.callDeltas()];
    const chunks = deltas.map((delta) => this.chunk(delta, null));
    const usage = { ...this.head('chat.completion.chunk'), choices: [], usage: this.usage() };
    return [...chunks, this.chunk({}, this.finishReason()), ...(this.request.includeUsage ? [usage] : [])];
  }

  private textDeltas(): object[] {
    return (this.turn.say.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? []).map((content) => ({ content }));
  }

  private callDeltas(): object[] {
    return this.calls().flatMap(({ id, type, function: { name, arguments: args } }, index) => {
      const middle = Math.floor(args.length / 2);
      const opening = { index, id, type, function: { name, arguments: '' } };
      const pieces = [args.slice(0, middle), args.slice(middle)].map((piece) => ({
        index,
        function: { arguments: piece },
      }));
      return [opening, ...pieces].map((call) => ({ tool_calls: [call] }));
    });
  }

  private calls() {
    return this.turn.calls.map(({ verb, arguments: args }, index) => ({
      id: `call_${this.request.turnsSoFar + 1}_${index + 1}`,
      type: 'function',
      function: { name: verb, arguments: JSON.stringify(args) },
    }));
  }

  private chunk(delta: object, finishReason: string | null): object {
    const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason };
    return { ...this.head('chat.completion.chunk'), choices: [choice] };
  }

  private head(object: string) {
    return { id: this.id, object, created: Math.floor(this.createdAtMs / 1000), model: this.request.model };
  }

  private finishReason(): 'tool_calls' | 'stop' {
    return this.turn.calls.length > 0 ? 'tool_calls' : 'stop';
  }

  private usage(): Usage {
    const input = tokens(this.request.conversationLength);
    const output = tokens(JSON.stringify(this.turn).length);
    return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  }
}

/** The usual estimate: four characters of English a token. */
const tokens = (characters: number): number => Math.ceil(characters / 4);
