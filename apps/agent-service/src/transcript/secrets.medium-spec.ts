import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { agentOps } from '@inquest/contracts-agent';
import { AgentHarness, MODEL_KEY } from '../testing/agent-harness';

const TOKEN = `ghp_${'c4n4rY'.repeat(7)}`;
const CANARIES = [MODEL_KEY, TOKEN, Buffer.from(MODEL_KEY).toString('base64').slice(0, 36)];

/** A model endpoint that refuses every key and says which one it got. */
async function startTattler(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: `bad key ${request.headers.authorization}`, type: 'auth' } }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

describe('secrets', () => {
  let harness: AgentHarness;
  let tattler: Server;
  let log = '';
  beforeAll(async () => {
    tattler = await startTattler();
    harness = await AgentHarness.start();
    jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      log += String(chunk);
      return true;
    });
  }, 120_000);
  afterAll(async () => {
    jest.restoreAllMocks();
    await harness.stop();
    tattler.close();
  }, 60_000);

  const everyRow = async (): Promise<string> => {
    const tables = await harness.database.query<{ name: string }[]>(
      `SELECT "table_name" AS "name" FROM information_schema.tables WHERE "table_schema" = 'agent'`,
    );
    const rows = await Promise.all(
      tables.map(({ name }) => harness.database.query<unknown[]>(`SELECT t::text FROM "agent"."${name}" t`)),
    );
    return JSON.stringify(rows);
  };

  it('are in no transcript, row, event, log or error, wherever they come from', async () => {
    await harness.stopAgent();
    await harness.startAgent({ INQUEST_LOG_LEVEL: 'verbose' });
    const { sessionId } = await harness.open();
    harness.vm.onExec = () => ({ stdout: `token ${TOKEN}, key ${MODEL_KEY}\n`, exitCode: 1 });
    const ended = await harness.run(
      sessionId,
      [
        {
          say: `I use ${TOKEN}`,
          calls: [
            { name: 'plan', arguments: { plan: `use ${MODEL_KEY}` } },
            { name: 'run', arguments: { command: `echo ${TOKEN}` } },
          ],
        },
        { calls: [{ name: 'done', arguments: { summary: `used ${TOKEN} and ${MODEL_KEY}` } }] },
      ],
      { prompt: `publish with ${TOKEN}` },
    );
    expect(harness.modelRequests[0]?.messages).toEqual([{ role: 'user', text: `publish with ${TOKEN}` }]);
    const seen = [
      JSON.stringify(ended),
      await readFile(harness.transcriptPath(sessionId), 'utf8'),
      JSON.stringify(await harness.transcript(sessionId)),
      await everyRow(),
      log,
    ];
    for (const text of seen) for (const canary of CANARIES) expect(text).not.toContain(canary);
    expect(seen[0]).toContain('[redacted GitHub token]');
    expect(seen[1]).toContain('[redacted model key]');
  });

  it('are not in what is told of an endpoint that repeats the key it refused', async () => {
    await harness.stopAgent();
    const { port } = tattler.address() as AddressInfo;
    await harness.startAgent(
      { INQUEST_LOG_LEVEL: 'verbose', INQUEST_MODEL_URL: `http://127.0.0.1:${port}/v1` },
      { hasRealModel: true },
    );
    const { sessionId } = await harness.open();
    const ended = await harness.run(sessionId, []);
    expect(ended).toMatchObject({
      state: 'failed',
      error: { code: 'RUN_MODEL_FAILED', details: { code: 'MODEL_AUTH_FAILED' } },
    });
    await harness.call(agentOps.closeSession, { sessionId, publish: false, by: 'test' });
    await harness.waitFor(sessionId, 'closed', 'failed');
    const seen = [
      JSON.stringify(ended),
      await readFile(harness.transcriptPath(sessionId), 'utf8'),
      await everyRow(),
      log,
    ];
    for (const text of seen) expect(text).not.toContain(MODEL_KEY);
    expect(log).toContain('agent-service');
  });
});
