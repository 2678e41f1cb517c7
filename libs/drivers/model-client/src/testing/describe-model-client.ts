import type { ModelClient, ModelMessage, ModelRequest } from '../model-client';
import type { FakeTurn } from './fake-model-client';

/** A model client that plays `turns`, and how to end what stands behind it. */
export interface ModelClientUnderTest {
  readonly client: ModelClient;
  close(): Promise<void>;
}

const never = new AbortController().signal;
const REQUEST: ModelRequest = {
  system: 'You are tested.',
  messages: [{ role: 'user', text: 'Begin.' }],
  tools: [{ name: 'run', description: 'Runs a command.', parameters: { type: 'object', properties: {} } }],
  maxTokens: 100,
};

/** What every `ModelClient` must do, real or fake. */
export function describeModelClient(
  name: string,
  make: (turns: readonly FakeTurn[]) => Promise<ModelClientUnderTest>,
): void {
  describe(`${name} as a ModelClient`, () => {
    let open: ModelClientUnderTest[] = [];
    afterEach(async () => {
      await Promise.all(open.map((one) => one.close()));
      open = [];
    });
    const playing = async (...turns: FakeTurn[]): Promise<ModelClient> => {
      const made = await make(turns);
      open.push(made);
      return made.client;
    };

    it('gives the text in pieces and whole', async () => {
      const client = await playing({ say: 'I look at the files first — déjà vu 漢字.' });
      const pieces: string[] = [];
      const reply = await client.turn(REQUEST, never, (delta) => pieces.push(delta));
      expect(reply).toMatchObject({ text: 'I look at the files first — déjà vu 漢字.', toolCalls: [], stop: 'end' });
      expect(pieces.join('')).toBe(reply.text);
    });

    it('gives the tool calls of a turn in order, each with an id of its own', async () => {
      const calls = [
        { name: 'run', arguments: { command: 'echo "a\nb"', nested: { list: [1, null, true] } } },
        { name: 'run', arguments: {} },
      ];
      const reply = await (await playing({ say: 'Two things.', calls })).turn(REQUEST, never);
      expect(reply.stop).toBe('tool_use');
      expect(reply.toolCalls).toMatchObject(calls);
      expect(new Set(reply.toolCalls.map(({ id }) => id)).size).toBe(2);
    });

    it('continues a conversation from its messages alone', async () => {
      const client = await playing({ say: 'first', calls: [{ name: 'run', arguments: {} }] }, { say: 'second' });
      const first = await client.turn(REQUEST, never);
      const messages: ModelMessage[] = [
        ...REQUEST.messages,
        { role: 'assistant', text: first.text, toolCalls: first.toolCalls },
        ...first.toolCalls.map(({ id }): ModelMessage => ({ role: 'tool', toolCallId: id, text: 'exit 0' })),
      ];
      const again = { ...REQUEST, messages };
      expect((await client.turn(again, never)).text).toBe('second');
      expect((await client.turn(again, never)).text).toBe('second');
    });

    it.each(['MODEL_AUTH_FAILED', 'MODEL_CONTEXT_EXCEEDED', 'MODEL_UNREACHABLE', 'MODEL_REPLY_INVALID'] as const)(
      'tells %s from other failures',
      async (fail) => {
        const client = await playing({ fail });
        await expect(client.turn(REQUEST, never)).rejects.toMatchObject({ name: 'DomainError', code: fail });
      },
    );

    it('does not begin a turn that is already cancelled', async () => {
      const client = await playing({ say: 'too late' });
      const said: string[] = [];
      const turn = client.turn(REQUEST, AbortSignal.abort(), (delta) => said.push(delta));
      await expect(turn).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
      expect(said).toEqual([]);
    });
  });
}
