import { followEvents } from './follow-events';
import { Problem } from './problem';

const stream = (text: string): Response => new Response(text, { headers: { 'content-type': 'text/event-stream' } });
const problem = (status: number, code: string): Response =>
  new Response(JSON.stringify({ code, detail: 'no', remediation: 'go' }), { status });

describe('followEvents', () => {
  const token = new Map<string, string>();
  const realFetch = globalThis.fetch;
  let requests: Headers[];

  /** Gives the answers one after the other; then the caller leaves. */
  function answerWith(leaving: AbortController, ...answers: readonly (Response | Error)[]): void {
    requests = [];
    const left = [...answers];
    globalThis.fetch = (_input, init) => {
      requests.push(new Headers(init?.headers));
      const next = left.shift();
      if (next === undefined) leaving.abort();
      return next instanceof Response ? Promise.resolve(next) : Promise.reject(next ?? new Error('left'));
    };
  }

  beforeEach(() => {
    token.clear();
    token.set('inquest.token', 'secret');
    Object.assign(globalThis, {
      sessionStorage: {
        getItem: (key: string) => token.get(key) ?? null,
        setItem: (key: string, value: string) => token.set(key, value),
        removeItem: (key: string) => token.delete(key),
      },
    });
  });
  afterEach(() => {
    globalThis.fetch = realFetch;
  });

  async function follow(leaving: AbortController): Promise<{ data: string[]; connections: boolean[] }> {
    const data: string[] = [];
    const connections: boolean[] = [];
    const onConnection = (isConnected: boolean): number => connections.push(isConnected);
    for await (const event of followEvents('/v1/x/events', { signal: leaving.signal, onConnection }))
      data.push(event.data);
    return { data, connections };
  }

  it('sends the bearer token, and continues a cut stream behind the last event seen', async () => {
    const leaving = new AbortController();
    answerWith(
      leaving,
      stream(': keepalive\n\nid: 7\ndata: one\n\nid: 8\ndata: two\n\nid: 9\ndata: torn'),
      new TypeError('network down'),
      stream('id: 9\ndata: three\n\n'),
    );
    expect(await follow(leaving)).toEqual({
      data: ['one', 'two', 'three'],
      connections: [true, false, false, true, false],
    });
    expect(requests.map((headers) => headers.get('last-event-id'))).toEqual([null, '8', '8', '9']);
    expect(requests[0]?.get('authorization')).toBe('Bearer secret');
  });

  it('gives up on an answer that another try cannot change', async () => {
    const leaving = new AbortController();
    answerWith(leaving, problem(404, 'SESSION_UNKNOWN'));
    const failure = await follow(leaving).catch((e: unknown) => e);
    expect(failure).toBeInstanceOf(Problem);
    expect(failure).toMatchObject({ code: 'SESSION_UNKNOWN', status: 404, remediation: 'go' });
    expect(requests).toHaveLength(1);
  });

  it('forgets a token that is refused', async () => {
    const leaving = new AbortController();
    answerWith(leaving, problem(401, 'HTTP_TOKEN_REFUSED'));
    await expect(follow(leaving)).rejects.toMatchObject({ code: 'HTTP_TOKEN_REFUSED' });
    expect(token.size).toBe(0);
  });
});
