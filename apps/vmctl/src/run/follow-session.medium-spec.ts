import type { ServerResponse } from 'node:http';
import type { TranscriptEntry } from '@inquest/transcript';
import { GatewayClient } from '../api/gateway-client';
import { GatewayDouble, sendProblem } from '../testing/gateway-double';
import { followSession } from './follow-session';

const PATH = '/v1/sessions/s-1/events';
const QUICK = { maxSilentTries: 3, firstPauseMs: 1, maxPauseMs: 1 };

describe('followSession', () => {
  let gateway: GatewayDouble;

  beforeAll(async () => {
    gateway = await GatewayDouble.start();
  });
  beforeEach(() => gateway.reset());
  afterAll(() => gateway.stop());

  const follow = async (): Promise<readonly TranscriptEntry[]> => {
    const { signal } = new AbortController();
    const entries: TranscriptEntry[] = [];
    const following = followSession({ gateway: new GatewayClient(gateway.environment, signal), signal }, 's-1', QUICK);
    for await (const entry of following) entries.push(entry);
    return entries;
  };

  const entry = (sequence: number, type = 'host_event'): object => ({
    ...{ type, sequence, atMs: 1_700_000_000_000 + sequence, sessionId: 's-1', runId: null },
    ...(type === 'session_closed' ? { reason: 'closed' } : { event: 'something', detail: `number ${sequence}` }),
  });
  const event = (id: number, sequence: number, type?: string): string => {
    const body = { sessionId: 's-1', runId: null, sequence, atMs: 1_700_000_000_000, entry: entry(sequence, type) };
    return `id: ${id}\nevent: progress\ndata: ${JSON.stringify(body)}\n\n`;
  };
  const begin = (response: ServerResponse): ServerResponse =>
    response.writeHead(200, { 'content-type': 'text/event-stream' });

  it('gives every entry in order and ends with the session', async () => {
    gateway.on('GET', PATH, (_, response) => {
      begin(response).write(`: keepalive\n\n${event(11, 1)}${event(12, 2)}`);
      response.write(event(13, 3, 'session_closed'));
    });
    expect((await follow()).map(({ sequence, type }) => `${sequence} ${type}`)).toEqual([
      '1 host_event',
      '2 host_event',
      '3 session_closed',
    ]);
  });

  it('continues behind the last event it saw when the connection breaks, and gives no entry twice', async () => {
    gateway
      .on('GET', PATH, (_, response) => {
        begin(response).write(event(11, 1) + event(12, 2), () => response.destroy());
      })
      .on('GET', PATH, (_, response) => {
        begin(response).write(event(12, 2) + event(13, 3) + event(14, 4, 'session_closed'));
      });
    expect((await follow()).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
    expect(gateway.requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '12']);
  });

  it('continues when the gateway, or what is behind it, is away for a while', async () => {
    gateway
      .on('GET', PATH, (_, response) => sendProblem(response, 503, 'RPC_NO_RESPONDER', 'nobody answers'))
      .on('GET', PATH, (request) => request.destroy())
      .on('GET', PATH, (_, response) => {
        begin(response).write(event(11, 1, 'session_closed'));
      });
    expect(await follow()).toHaveLength(1);
  });

  it('continues where an event arrives in pieces, cut inside a character', async () => {
    const bytes = Buffer.from(event(11, 1).replace('number 1', 'nümber 1'));
    const cut = bytes.indexOf(0xc3) + 1;
    gateway.on('GET', PATH, (_, response) => {
      begin(response).write(bytes.subarray(0, cut), () => {
        response.write(bytes.subarray(cut));
        response.write(event(12, 2, 'session_closed'));
      });
    });
    expect((await follow())[0]).toMatchObject({ detail: 'nümber 1' });
  });

  it('skips entries of a kind that it does not know', async () => {
    gateway.on('GET', PATH, (_, response) => {
      begin(response).write(event(11, 1, 'from_the_future') + event(12, 2, 'session_closed'));
    });
    expect((await follow()).map(({ type }) => type)).toEqual(['session_closed']);
  });

  it('throws an answer about the session at once', async () => {
    gateway.on('GET', PATH, (_, response) => sendProblem(response, 404, 'SESSION_UNKNOWN', 'no session s-1'));
    await expect(follow()).rejects.toMatchObject({ code: 'SESSION_UNKNOWN' });
    expect(gateway.requests).toHaveLength(1);
  });

  it('gives up, and says so, when the gateway stays away', async () => {
    gateway.on('GET', PATH, (request) => request.destroy());
    await expect(follow()).rejects.toMatchObject({ code: 'CLI_PLATFORM_DOWN' });
    expect(gateway.requests).toHaveLength(QUICK.maxSilentTries);
  });
});
