import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { agentEvents, type ConfirmationView } from '@inquest/contracts-agent';
import { eventually } from '@inquest/testing';
import { GatewayHarness, TOKEN } from '../testing/gateway-harness';

const view = (confirmationId: string, sessionId: string): ConfirmationView => ({
  confirmationId,
  sessionId,
  project: 'site',
  runId: 'run-1',
  callId: 'call-1',
  argumentsDigest: `sha256:${'0'.repeat(64)}`,
  verb: 'ask',
  origin: 'ask',
  question: 'Shall I?',
  choices: [],
  argumentsText: '',
  argumentsLength: 0,
  state: 'open',
  choice: null,
  reason: '',
  by: null,
  askedAtMs: 1,
  expiresAtMs: 2,
  endedAtMs: null,
});

describe('the changes of confirmations as server-sent events', () => {
  let edge: GatewayHarness;

  beforeAll(async () => {
    edge = await GatewayHarness.start();
  }, 120_000);
  afterAll(() => edge.stop(), 60_000);

  const publish = (id: string, session: string): Promise<void> =>
    edge.bus.publish(agentEvents.confirmationChanged, [session], view(id, session), { messageId: id });
  const watch = async (headers: Record<string, string> = {}): Promise<IncomingMessage> => {
    const asked = httpRequest(`${edge.url}/v1/confirmations/events`, {
      headers: { authorization: `Bearer ${TOKEN}`, ...headers },
    });
    asked.end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    return response;
  };
  /** Reads until so many events came, and hangs up. */
  const take = async (response: IncomingMessage, count: number) => {
    let text = '';
    for await (const chunk of response as AsyncIterable<Buffer>) {
      text += chunk.toString();
      if (text.split('\n\n').filter((block) => block.includes('data: ')).length >= count) break;
    }
    const ids = [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id ?? '');
    const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json ?? '') as ConfirmationView);
    return { ids, confirmations: data.map(({ confirmationId }) => confirmationId) };
  };

  it('come of all sessions, and go on behind the last one that a watcher saw', async () => {
    const response = await watch();
    expect(response.headers['content-type']).toContain('text/event-stream');
    const taken = take(response, 2);
    await publish('cnf-1', 'ses-1');
    await publish('cnf-2', 'ses-2');
    const { ids, confirmations } = await taken;
    expect(confirmations).toEqual(['cnf-1', 'cnf-2']);
    await publish('cnf-3', 'ses-1');
    const next = await take(await watch({ 'last-event-id': ids[0] ?? '' }), 2);
    expect(next.confirmations).toEqual(['cnf-2', 'cnf-3']);
  });

  it('end in the gateway when the watcher hangs up', async () => {
    await eventually(() => edge.readingStreams === 0);
    const response = await watch();
    await eventually(() => edge.readingStreams === 1);
    response.destroy();
    await eventually(() => edge.readingStreams === 0);
  });
});
