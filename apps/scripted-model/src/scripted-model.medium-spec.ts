import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import OpenAI from 'openai';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { withDeadline } from '@inquest/kernel';
import { parseScenario } from './scenario';
import { ScriptedModelServer } from './scripted-model.server';

const SCENARIO = parseScenario(`
turns:
  - say: "I look first: déjà vu."
    calls:
      - {verb: list_files, arguments: {path: /mnt/project}}
      - {verb: run, arguments: {command: "echo \\"a b\\""}}
  - say: done
`);
const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'go' }];

describe('ScriptedModelServer', () => {
  let server: ScriptedModelServer;
  let url: string;
  const client = (apiKey = 'key') => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });

  const start = async (key: string | null = null): Promise<void> => {
    server = new ScriptedModelServer({ host: '127.0.0.1', port: 0, scenario: SCENARIO, key });
    url = await server.listen();
  };
  afterEach(() => server.close());

  it('plays its turns to an ordinary client, one after the other', async () => {
    await start();
    const { chat } = client();
    const first = await chat.completions.create({ model: 'scripted', messages });
    const [choice] = first.choices;
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: 'I look first: déjà vu.',
        tool_calls: [
          { id: 'call_1_1', type: 'function', function: { name: 'list_files', arguments: '{"path":"/mnt/project"}' } },
          { id: 'call_1_2', type: 'function', function: { name: 'run', arguments: '{"command":"echo \\"a b\\""}' } },
        ],
      },
    });
    const answers = ['call_1_1', 'call_1_2'].map((id) => ({ role: 'tool' as const, tool_call_id: id, content: 'ok' }));
    const answered = [...messages, ...(choice === undefined ? [] : [choice.message]), ...answers];
    const second = await chat.completions.create({ model: 'scripted', messages: answered });
    expect(second.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'done' } });
    expect(second.usage?.prompt_tokens).toBeGreaterThan(first.usage?.prompt_tokens ?? 0);
  });

  it('gives the same turn as a stream', async () => {
    await start();
    const stream = client().chat.completions.stream({
      model: 'scripted',
      messages,
      stream_options: { include_usage: true },
    });
    const pieces: string[] = [];
    stream.on('content', (delta) => pieces.push(delta));
    const streamed = await stream.finalChatCompletion();
    const whole = await client().chat.completions.create({ model: 'scripted', messages });
    expect(streamed.choices[0]?.message).toMatchObject({
      content: 'I look first: déjà vu.',
      tool_calls: whole.choices[0]?.message.tool_calls,
    });
    expect(streamed.usage).toEqual(whole.usage);
    expect(pieces.length).toBeGreaterThan(3);
  });

  it('lists itself as the only model and knows no other', async () => {
    await start();
    expect((await client().models.list()).data.map(({ id }) => id)).toEqual(['scripted']);
    await expect(client().chat.completions.create({ model: 'gpt', messages })).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
  });

  it('wants its key when it has one', async () => {
    await start('secret-key');
    const request = { model: 'scripted', messages };
    await expect(client('wrong').chat.completions.create(request)).rejects.toMatchObject({
      status: 401,
      code: 'invalid_api_key',
    });
    expect((await client('secret-key').chat.completions.create(request)).choices).toHaveLength(1);
  });

  it.each([
    ['POST', '/v1/chat/completions', '{', 400],
    ['POST', '/v1/chat/completions', '{"model":"scripted"}', 400],
    ['GET', '/v1/chat/completions', undefined, 404],
    ['GET', '/', undefined, 404],
    ['GET', '//', undefined, 404],
  ])('answers %s %s %s with an error body and goes on serving', async (method, target, body, status) => {
    await start();
    const response = await fetch(url + target, { method, ...(body === undefined ? {} : { body }) });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({
      error: { message: expect.any(String), type: 'invalid_request_error' },
    });
    expect((await fetch(`${url}/v1/models`)).status).toBe(200);
  });

  it('refuses a body without bound', async () => {
    await start();
    const body = Buffer.alloc(33 * 1024 * 1024, 'x');
    const outcome = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body }).then(
      ({ status }) => status,
      () => 'closed',
    );
    expect([413, 'closed']).toContain(outcome);
    expect((await fetch(`${url}/v1/models`)).status).toBe(200);
  });
});

describe('the scripted model as a process', () => {
  let directory: string;
  let child: ChildProcess | null = null;
  beforeEach(() => (directory = mkdtempSync(path.join(tmpdir(), 'scripted-model-'))));
  afterEach(() => {
    child?.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });
  const launch = (env: NodeJS.ProcessEnv): ChildProcess => {
    child = spawn(process.execPath, [path.join(__dirname, '..', 'dist', 'main.js')], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    return child;
  };

  it('says where it listens once it does, and ends cleanly on SIGTERM', async () => {
    const readyFile = path.join(directory, 'ready.json');
    const watcher = watch(directory);
    const written = new Promise<void>((resolve) =>
      watcher.on('change', (_, name) => name === 'ready.json' && resolve()),
    );
    const process = launch({ INQUEST_READY_FILE: readyFile });
    await withDeadline(written, 60_000, 'the ready file');
    watcher.close();
    const ready = JSON.parse(await readFile(readyFile, 'utf8')) as { pid: number; port: number; url: string };
    expect(ready).toEqual({ pid: process.pid, port: Number(new URL(ready.url).port), url: ready.url });
    expect((await fetch(`${ready.url}/v1/models`)).status).toBe(200);
    process.kill('SIGTERM');
    expect(await once(process, 'exit')).toEqual([0, null]);
  });

  it('does not start without its scenario, and says why', async () => {
    const process = launch({ INQUEST_SCENARIO: path.join(directory, 'missing.yaml') });
    let said = '';
    process.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    expect(await once(process, 'close')).toEqual([1, null]);
    expect(said).toMatch(/^SCENARIO_UNREADABLE: the scenario .*missing\.yaml cannot be read\./);
  });
});
