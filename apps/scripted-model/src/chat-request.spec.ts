import { parseChatRequest } from './chat-request';

const user = { role: 'user', content: 'go' };
const call = (id: string) => ({ id, type: 'function', function: { name: 'run', arguments: '{}' } });
const assistant = (...ids: string[]) => ({ role: 'assistant', content: null, tool_calls: ids.map(call) });
const tool = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'exit 0' });
const request = (messages: unknown, more: object = {}) => ({ model: 'scripted', messages, ...more });

describe('parseChatRequest', () => {
  it('counts the turns that the model had', () => {
    const messages = [
      { role: 'system', content: 's' },
      user,
      assistant('a', 'b'),
      tool('b'),
      tool('a'),
      { role: 'assistant', content: 'so' },
      user,
    ];
    expect(
      parseChatRequest(request(messages, { stream: true, stream_options: { include_usage: true } })),
    ).toMatchObject({
      model: 'scripted',
      stream: true,
      includeUsage: true,
      turnsSoFar: 2,
      asked: 'go',
    });
  });

  it('takes texts in parts', () => {
    const parts = { role: 'user', content: [{ type: 'text', text: 'go' }] };
    expect(parseChatRequest(request([parts]))).toMatchObject({ turnsSoFar: 0, stream: false, asked: 'go' });
  });

  it.each([
    ['no object', 7, null],
    ['no model', { messages: [user] }, 'model'],
    ['no messages', request(undefined), 'messages'],
    ['empty messages', request([]), 'messages'],
    ['an unknown parameter', request([user], { modle: 1 }), 'modle'],
    ['a stream that is no boolean', request([user], { stream: 'yes' }), 'stream'],
    ['stream options without a stream', request([user], { stream_options: {} }), 'stream_options'],
    ['a token limit of zero', request([user], { max_tokens: 0 }), 'max_tokens'],
    ['an empty tool list', request([user], { tools: [] }), 'tools'],
    ['a tool without a name', request([user], { tools: [{ type: 'function', function: {} }] }), 'tools[0]'],
    [
      'a tool twice',
      request([user], { tools: [1, 2].map(() => ({ type: 'function', function: { name: 'run' } })) }),
      'tools',
    ],
    ['an unknown role', request([{ role: 'robot', content: 'x' }]), 'messages[0].role'],
    ['a message without content', request([{ role: 'user' }]), 'messages[0].content'],
    ['a silent assistant without calls', request([user, { role: 'assistant', content: null }]), 'messages[1].content'],
    ['calls of a user', request([{ ...user, tool_calls: [call('a')] }]), 'messages[0].tool_calls'],
    ['a tool message without its call', request([user, { role: 'tool', content: 'x' }]), 'messages[1].tool_call_id'],
    ['an answer to nothing', request([user, tool('a')]), 'messages[1]'],
    ['an answer twice', request([user, assistant('a'), tool('a'), tool('a')]), 'messages[3]'],
    ['a call that is not answered', request([user, assistant('a', 'b'), tool('a'), user]), 'messages[2]'],
    ['a call that is not answered at the end', request([user, assistant('a')]), 'messages[1]'],
    [
      'a call without arguments',
      request([user, { ...assistant(), tool_calls: [{ id: 'a', function: { name: 'run' } }] }]),
      'messages[1].tool_calls',
    ],
  ])('refuses %s as the API does', (_, body, param) => {
    expect(() => parseChatRequest(body)).toThrow(expect.objectContaining({ status: 400, param }));
  });
});
