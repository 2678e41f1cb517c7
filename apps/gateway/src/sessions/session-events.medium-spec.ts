import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { agentError, agentEvents, agentOps } from '@inquest/contracts-agent';
import { newId } from '@inquest/kernel';
import { eventually } from '@inquest/testing';
import { GatewayHarness, TOKEN } from '../testing/gateway-harness';

interface Event {
  readonly id: string;
  readonly sequence: number;
}

const eventOf = (block: string): Event => ({
  id: /^id: (.*)$/m.exec(block)?.[1] ?? '',
  sequence: (JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '{}') as { sequence: number }).sequence,
});

describe('the progress of a session as server-sent events', () => {
  let edge: GatewayHarness;
  let sessionId: string;

  beforeAll(async () => {
    edge = await GatewayHarness.start();
  }, 120_000);
  afterAll(() => edge.stop(), 60_000);
  beforeEach(() => {
    sessionId = newId<string>('ses');
    edge.answering = () => ({});
  });

  const publish = async (first: number, last: number, text = ''): Promise<void> => {
    for (let sequence = first; sequence <= last; sequence++) {
      const body = { sessionId, runId: null, sequence, atMs: 1, entry: { type: 'note', text } };
      await edge.bus.publish(agentEvents.progress, [sessionId], body, { messageId: `${sessionId}-${sequence}` });
    }
  };
  const watch = async (headers: Record<string, string> = {}, session = sessionId): Promise<IncomingMessage> => {
    const asked = httpRequest(`${edge.url}/v1/sessions/${session}/events`, {
      headers: { authorization: `Bearer ${TOKEN}`, ...headers },
    });
    asked.end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    return response;
  };
  /** Reads until so many events came, and hangs up. */
  const take = async (response: IncomingMessage, count: number): Promise<Event[]> => {
    const events: Event[] = [];
    let pending = '';
    for await (const chunk of response as AsyncIterable<Buffer>) {
      const blocks = `${pending}${chunk.toString()}`.split('\n\n');
      pending = blocks.pop() ?? '';
      events.push(...blocks.filter((block) => block.includes('data: ')).map(eventOf));
      if (events.length >= count) break;
    }
    return events;
  };
  const sequences = (events: readonly Event[]): number[] => events.map(({ sequence }) => sequence);

  it('begin with the first entry and go on with those to come', async () => {
    await publish(1, 3);
    const response = await watch();
    expect(response.headers).toMatchObject({
      'content-type': expect.stringContaining('text/event-stream'),
      'cache-control': 'no-store',
    });
    const taken = take(response, 5);
    await publish(4, 5);
    expect(sequences(await taken)).toEqual([1, 2, 3, 4, 5]);
  });

  it('continue behind the last one that a watcher saw', async () => {
    await publish(1, 4);
    const seen = await take(await watch(), 2);
    const next = await take(await watch({ 'last-event-id': seen[1]?.id ?? '' }), 2);
    expect(sequences(next)).toEqual([3, 4]);
  });

  it.each(['nonsense', '-1', '1.5', '99999999999999999999'])('start over for the last id %j', async (lastId) => {
    await publish(1, 2);
    expect(sequences(await take(await watch({ 'last-event-id': lastId }), 2))).toEqual([1, 2]);
  });

  it('hold no entry of another session', async () => {
    await publish(1, 1);
    const other = sessionId;
    sessionId = newId<string>('ses');
    await publish(7, 7);
    expect(sequences(await take(await watch({}, sessionId), 1))).toEqual([7]);
    expect(sequences(await take(await watch({}, other), 1))).toEqual([1]);
  });

  it('are refused for a session that nobody knows', async () => {
    edge.answering = (subject) => {
      if (subject === agentOps.showSession.subject) throw agentError('SESSION_UNKNOWN', 'no such session');
      return {};
    };
    const response = await watch();
    expect(response.statusCode).toBe(404);
    response.resume();
  });

  it('do not pile up for a watcher that does not read, and reach it whole when it does', async () => {
    await publish(1, 100, 'x'.repeat(200_000));
    const before = edge.takenEvents;
    const response = await watch();
    response.pause();
    let taken = 0;
    // Two looks with a whole request in between that see the same: the stream stands still.
    await eventually(
      async () => {
        const seen = edge.takenEvents - before;
        await edge.request('GET', '/v1/images');
        const isStanding = seen > 0 && seen === taken;
        taken = seen;
        return isStanding;
      },
      { intervalMs: 250 },
    );
    expect(taken).toBeLessThan(90);
    expect(sequences(await take(response, 100))).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
  });

  it('end in the gateway when the watcher hangs up', async () => {
    await eventually(() => edge.readingStreams === 0);
    const response = await watch();
    await eventually(() => edge.readingStreams === 1);
    response.destroy();
    await eventually(() => edge.readingStreams === 0);
  });

  it('are not begun for a watcher that hung up before', async () => {
    let answer: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    edge.answering = (subject) => (subject === agentOps.showSession.subject ? held : {});
    edge.calls.length = 0;
    const asked = httpRequest(`${edge.url}/v1/sessions/${sessionId}/events`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    asked.on('error', () => undefined);
    asked.end();
    await eventually(() => edge.calls.length === 1);
    const port = asked.socket?.localPort ?? 0;
    asked.destroy();
    await eventually(() => edge.closedPorts.has(port));
    answer();
    await edge.request('GET', '/v1/images');
    await eventually(() => edge.readingStreams === 0);
  });
});
