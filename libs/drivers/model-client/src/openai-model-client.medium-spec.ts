import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ModelRequest } from './model-client';
import { OpenAiModelClient, type OpenAiModelClientOptions } from './openai-model-client';
import { describeModelClient, type FakeTurn } from './testing';

const KEY = 'canary-key-4711-never-shown';
const never = new AbortController().signal;
const REQUEST: ModelRequest = { system: 's', messages: [{ role: 'user', text: 'u' }], tools: [], maxTokens: 10 };

type Handler = (body: Record<string, unknown>, response: ServerResponse, request: IncomingMessage) => void;

/** An HTTP server on loopback in the place of a model endpoint. */
async function endpoint(handler: Handler) {
  const server: Server = createServer((request, response) => {
    void text(request).then((body) => handler(JSON.parse(body) as Record<string, unknown>, response, request));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  const client = (options: Partial<OpenAiModelClientOptions> = {}) =>
    new OpenAiModelClient({ baseUrl, model: 'm', apiKey: KEY, maxRetries: 0, ...options });
  return { client, close };
}

const fail = (response: ServerResponse, status: number, code: string, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ error: { message: `no: ${code} (key ${KEY})`, type: 'error', code } }));
};
const stream = (response: ServerResponse, ...chunks: object[]): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
};
const said = (content: string) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
const ended = (finish: string) => ({ choices: [{ index: 0, delta: {}, finish_reason: finish }] });

const FAILURES: Readonly<Record<string, (response: ServerResponse) => void>> = {
  MODEL_AUTH_FAILED: (response) => fail(response, 401, 'invalid_api_key'),
  MODEL_CONTEXT_EXCEEDED: (response) => fail(response, 400, 'context_length_exceeded'),
  MODEL_UNREACHABLE: (response) => fail(response, 503, 'overloaded'),
  MODEL_REPLY_INVALID: (response) => stream(response, said('and'), { choices: 7 }),
};

const play =
  (turns: readonly FakeTurn[]): Handler =>
  (body, response) => {
    const messages = body['messages'] as readonly { role: string }[];
    const turn = turns[messages.filter(({ role }) => role === 'assistant').length] ?? {};
    if ('fail' in turn) return (FAILURES[turn.fail]?.(response), void response.end());
    const calls = (turn.calls ?? []).flatMap(({ name, arguments: args }, index) => {
      const whole = JSON.stringify(args);
      const delta = (call: object) => ({
        choices: [{ index: 0, delta: { tool_calls: [{ index, ...call }] }, finish_reason: null }],
      });
      return [
        delta({ id: `c${index}`, type: 'function', function: { name, arguments: '' } }),
        delta({ function: { arguments: whole.slice(0, 3) } }),
        delta({ function: { arguments: whole.slice(3) } }),
      ];
    });
    const words = (turn.say ?? '').match(/.{1,3}/gsu) ?? [];
    stream(response, ...words.map(said), ...calls, ended(calls.length > 0 ? 'tool_calls' : 'stop'));
    response.end('data: [DONE]\n\n');
  };

describeModelClient('OpenAiModelClient', async (turns) => {
  const { client, close } = await endpoint(play(turns));
  return { client: client(), close };
});

describe('OpenAiModelClient', () => {
  let close: () => Promise<void> = () => Promise.resolve();
  afterEach(() => close());
  const serve = async (handler: Handler) => {
    const served = await endpoint(handler);
    close = served.close;
    return served.client;
  };

  it('sends the conversation, the tools and the key as the API defines them', async () => {
    let sent: Record<string, unknown> = {};
    let authorization: string | undefined;
    const make = await serve((body, response, request) => {
      sent = body;
      authorization = request.headers.authorization;
      stream(response, ended('stop'));
      response.end();
    });
    const toolCalls = [{ id: 'c1', name: 'run', arguments: { command: 'ls' } }];
    await make().turn(
      {
        system: 'be brief',
        messages: [
          { role: 'user', text: 'go' },
          { role: 'assistant', text: '', toolCalls },
          { role: 'tool', toolCallId: 'c1', text: 'exit 0' },
        ],
        tools: [{ name: 'run', description: 'runs', parameters: { type: 'object' } }],
        maxTokens: 77,
      },
      never,
    );
    expect(authorization).toBe(`Bearer ${KEY}`);
    expect(sent).toEqual({
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 77,
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'go' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ type: 'function', id: 'c1', function: { name: 'run', arguments: '{"command":"ls"}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'exit 0' },
      ],
      tools: [{ type: 'function', function: { name: 'run', description: 'runs', parameters: { type: 'object' } } }],
    });
  });

  describe('a picture', () => {
    const picture = Buffer.from('png');
    const withPicture: ModelRequest = { ...REQUEST, messages: [{ role: 'user', text: 'look', picture }] };
    const contentOf = (body: Record<string, unknown>): unknown =>
      (body['messages'] as { content: unknown }[])[1]?.content;
    const agree = (response: ServerResponse): void => {
      stream(response, said('seen'), ended('stop'));
      response.end();
    };

    it('is shown by a data URL', async () => {
      const seen: unknown[] = [];
      const make = await serve((body, response) => {
        seen.push(contentOf(body));
        agree(response);
      });
      await make().turn(withPicture, never);
      const url = `data:image/png;base64,${picture.toString('base64')}`;
      expect(seen).toEqual([
        [
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url } },
        ],
      ]);
    });

    it('that the endpoint refuses is left out, and said to be; it is shown none again', async () => {
      const seen: string[] = [];
      const make = await serve((body, response) => {
        const content = contentOf(body);
        seen.push(typeof content);
        if (typeof content === 'string') agree(response);
        else fail(response, 400, 'unknown_content');
      });
      const client = make();
      await expect(client.turn(withPicture, never)).resolves.toMatchObject({ text: 'seen' });
      await expect(client.turn(withPicture, never)).resolves.toMatchObject({ text: 'seen' });
      expect(seen).toEqual(['object', 'string', 'string']);
    });

    it('is not blamed for a request that is refused without it, too', async () => {
      let asked = 0;
      const seen: string[] = [];
      const make = await serve((body, response) => {
        seen.push(typeof contentOf(body));
        if (++asked <= 2) fail(response, 400, 'bad_tools');
        else agree(response);
      });
      const client = make();
      await expect(client.turn(withPicture, never)).rejects.toMatchObject({ code: 'MODEL_REQUEST_REFUSED' });
      await client.turn(withPicture, never);
      expect(seen).toEqual(['object', 'string', 'object']);
    });
  });

  it('never puts the key into an error', async () => {
    const make = await serve((_, response) => fail(response, 401, 'invalid_api_key'));
    const error = await make()
      .turn(REQUEST, never)
      .catch((e: unknown) => e as Error);
    const everything = JSON.stringify(error) + String((error as Error).stack) + String((error as Error).cause);
    expect(everything).toContain('invalid_api_key');
    expect(everything).not.toContain(KEY);
  });

  it('asks again after a rate limit, and says so when it lasts', async () => {
    let asked = 0;
    const make = await serve((_, response) => {
      asked++;
      if (asked % 3 !== 0) return fail(response, 429, 'rate_limit_exceeded', { 'retry-after': '0' });
      stream(response, said('at last'), ended('stop'));
      response.end();
    });
    expect((await make({ maxRetries: 2 }).turn(REQUEST, never)).text).toBe('at last');
    await expect(make({ maxRetries: 1 }).turn(REQUEST, never)).rejects.toMatchObject({ code: 'MODEL_RATE_LIMITED' });
    expect(asked).toBe(5);
  });

  it('stops waiting for a retry as soon as it is cancelled', async () => {
    const controller = new AbortController();
    const make = await serve((_, response) => {
      fail(response, 429, 'rate_limit_exceeded', { 'retry-after': '50' });
      controller.abort();
    });
    const turn = make({ maxRetries: 5 }).turn(REQUEST, controller.signal);
    await expect(turn).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
  });

  it('stops in the middle of a reply when it is cancelled', async () => {
    const make = await serve((_, response) => stream(response, said('thinking')));
    const controller = new AbortController();
    const turn = make().turn(REQUEST, controller.signal, () => controller.abort());
    await expect(turn).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
  });

  it('does not wait for ever for an endpoint that falls silent within a reply', async () => {
    const make = await serve((_, response) => stream(response, said('thinking')));
    await expect(make({ idleTimeoutMs: 100 }).turn(REQUEST, never)).rejects.toMatchObject({
      code: 'MODEL_UNREACHABLE',
      message: expect.stringContaining('silent for 100 ms'),
    });
  });

  it('does not wait for ever for an endpoint that never answers', async () => {
    const make = await serve(() => undefined);
    await expect(make({ idleTimeoutMs: 100 }).turn(REQUEST, never)).rejects.toMatchObject({
      code: 'MODEL_UNREACHABLE',
    });
    await expect(make({ turnTimeoutMs: 100 }).turn(REQUEST, never)).rejects.toThrow(/longer than 100 ms/);
  });

  it('names the endpoint and the reason when nobody listens', async () => {
    const make = await serve(() => undefined);
    await close();
    close = () => Promise.resolve();
    await expect(make().turn(REQUEST, never)).rejects.toMatchObject({
      code: 'MODEL_UNREACHABLE',
      message: expect.stringMatching(/http:\/\/127\.0\.0\.1:[0-9]+\/v1 failed: .*ECONNREFUSED/),
    });
  });

  it('takes a page of HTML or broken JSON for no reply', async () => {
    const html = await serve((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>login</html>'),
    );
    await expect(html().turn(REQUEST, never)).rejects.toMatchObject({ code: 'MODEL_REPLY_INVALID' });
    await close();
    const broken = await serve((_, response) => {
      stream(response);
      response.end('data: {"choices":[\n\n');
    });
    await expect(broken().turn(REQUEST, never)).rejects.toMatchObject({ code: 'MODEL_REPLY_INVALID' });
  });
});
