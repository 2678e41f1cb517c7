import { MAX_REPLY_LENGTH, MAX_TOOL_CALLS, ReplyAssembler, type ReplyChunk } from './reply-assembler';

const chunk = (delta: object, finish: string | null = null): ReplyChunk => ({
  choices: [{ delta, finish_reason: finish }],
});
const call = (index: number, id: string | undefined, name: string | undefined, args: string): ReplyChunk =>
  chunk({ tool_calls: [{ index, id, function: { name, arguments: args } }] });
const assembled = (...chunks: ReplyChunk[]) => {
  const assembler = new ReplyAssembler();
  for (const one of chunks) assembler.add(one);
  return assembler.reply();
};
const invalid = expect.objectContaining({ code: 'MODEL_REPLY_INVALID' });

describe('ReplyAssembler', () => {
  it('joins arguments that come in pieces, of calls that come interleaved', () => {
    const reply = assembled(
      call(0, 'a', 'run', '{"comm'),
      call(1, 'b', 'read_file', '{"path":'),
      call(0, undefined, undefined, 'and":"ls"}'),
      call(1, undefined, undefined, '"/x"}'),
      chunk({}, 'tool_calls'),
      { choices: [], usage: { prompt_tokens: 12, completion_tokens: 3 } },
    );
    expect(reply).toEqual({
      text: '',
      toolCalls: [
        { id: 'a', name: 'run', arguments: { command: 'ls' } },
        { id: 'b', name: 'read_file', arguments: { path: '/x' } },
      ],
      stop: 'tool_use',
      usage: { inputTokens: 12, outputTokens: 3 },
    });
  });

  it('has calls although the endpoint ends the reply with "stop"', () => {
    expect(assembled(call(0, 'a', 'run', '{}'), chunk({}, 'stop')).stop).toBe('tool_use');
  });

  it('has no calls when the reply was cut: the last would be half a call', () => {
    const reply = assembled(call(0, 'a', 'run', '{"command":"rm -rf /tm'), chunk({}, 'length'));
    expect(reply).toMatchObject({ stop: 'length', toolCalls: [] });
  });

  it('takes no arguments at all as an empty object, and numbers calls that have no id', () => {
    expect(assembled(call(0, undefined, 'done', ''), chunk({}, 'stop')).toolCalls).toEqual([
      { id: 'call-1', name: 'done', arguments: {} },
    ]);
  });

  it.each(['[]', '"ls"', '7', 'null', '{"command":', '{} {}'])('refuses the arguments %s, naming the tool', (args) => {
    expect(() => assembled(call(0, 'a', 'run', args), chunk({}, 'stop'))).toThrow(
      expect.objectContaining({
        code: 'MODEL_REPLY_INVALID',
        message: expect.stringContaining('run'),
        details: { tool: 'run' },
      }),
    );
  });

  it('refuses a reply that has no end', () => {
    expect(() => assembled(chunk({ content: 'and then' }))).toThrow(invalid);
  });

  it('refuses calls without a name, out of order, too many, or that are no list', () => {
    expect(() => assembled(call(0, 'a', undefined, '{}'), chunk({}, 'stop'))).toThrow(invalid);
    expect(() => assembled(call(3, 'a', 'run', '{}'))).toThrow(invalid);
    expect(() => assembled(call(-1, 'a', 'run', '{}'))).toThrow(invalid);
    expect(() => assembled(...Array.from({ length: MAX_TOOL_CALLS + 1 }, (_, i) => call(i, 'a', 'run', '')))).toThrow(
      invalid,
    );
    expect(() => assembled(chunk({ tool_calls: 'run' }))).toThrow(invalid);
  });

  it('stops at its bound instead of filling the memory', () => {
    const assembler = new ReplyAssembler();
    const piece = chunk({ content: 'x'.repeat(1024 * 1024) });
    expect(() => {
      for (let length = 0; length <= MAX_REPLY_LENGTH; length += 1024 * 1024) assembler.add(piece);
    }).toThrow(invalid);
  });

  it('says when the provider withheld the reply', () => {
    expect(() => assembled(chunk({}, 'content_filter'))).toThrow(
      expect.objectContaining({ code: 'MODEL_REPLY_WITHHELD' }),
    );
  });

  it.each([
    {},
    { choices: null },
    { choices: [{}] },
    { choices: [{ delta: null }] },
    { usage: { prompt_tokens: -1 } },
  ] as ReplyChunk[])('passes over the chunk %j', (odd) =>
    expect(assembled(odd, chunk({ content: 'ok' }, 'stop'))).toMatchObject({ text: 'ok', usage: null }),
  );
});
