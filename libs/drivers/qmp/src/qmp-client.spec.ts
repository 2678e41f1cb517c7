import fc from 'fast-check';
import type { QmpEvent } from './messages';
import { QmpClient } from './qmp-client';
import { FakeQmpServer } from './testing';

describe('QmpClient', () => {
  const connect = async (server: FakeQmpServer): Promise<QmpClient> => QmpClient.negotiate(server.clientSide);

  it('negotiates capabilities before anything else and knows the version', async () => {
    const server = new FakeQmpServer();
    const client = await connect(server);
    expect(server.received).toEqual([{ name: 'qmp_capabilities', args: {} }]);
    expect(client.version).toBe('7.2.22');
  });

  it('gives each of several commands in flight its own answer', async () => {
    const client = await connect(new FakeQmpServer(({ args }) => ({ value: args['n'] })));
    const answers = await Promise.all([1, 2, 3].map((n) => client.execute('echo', { n })));
    expect(answers).toEqual([1, 2, 3]);
  });

  it('repeats the words of the monitor when it refuses a command, and stays usable', async () => {
    const client = await connect(
      new FakeQmpServer(({ name }) => (name === 'cont' ? { refusal: 'Resetting the VM is required' } : { value: 1 })),
    );
    await expect(client.execute('cont')).rejects.toMatchObject({
      code: 'QMP_COMMAND_FAILED',
      message: expect.stringContaining('Resetting the VM is required'),
      details: { errorClass: 'GenericError' },
    });
    await expect(client.execute('other')).resolves.toBe(1);
  });

  it('says which command got no answer in time, ignores the late one, and stays usable', async () => {
    const server = new FakeQmpServer(({ name }) => (name === 'frozen' ? null : { value: 'fine' }));
    const client = await connect(server);
    await expect(client.execute('frozen', {}, { deadlineMs: 5 })).rejects.toMatchObject({
      code: 'QMP_TIMEOUT',
      message: expect.stringContaining('frozen'),
    });
    server.sendRaw('{"return": "late", "id": 2}\r\n');
    await expect(client.execute('next')).resolves.toBe('fine');
  });

  it('stops waiting as soon as the signal aborts', async () => {
    const client = await connect(new FakeQmpServer(() => null));
    const controller = new AbortController();
    const waiting = client.execute('frozen', {}, { signal: controller.signal });
    controller.abort('enough');
    await expect(waiting).rejects.toMatchObject({ code: 'OPERATION_ABORTED', cause: 'enough' });
    await expect(client.execute('x', {}, { signal: controller.signal })).rejects.toMatchObject({
      code: 'OPERATION_ABORTED',
    });
  });

  it('fails everything unanswered and everything later when the monitor goes away', async () => {
    const server = new FakeQmpServer(() => null);
    const client = await connect(server);
    const waiting = client.execute('stop');
    server.hangUp();
    await expect(waiting).rejects.toMatchObject({ code: 'QMP_CLOSED' });
    await client.closed;
    await expect(client.execute('stop')).rejects.toMatchObject({ code: 'QMP_CLOSED' });
    client.close();
  });

  it.each([
    ['not JSON', 'garbage\n'],
    ['an array', '[1]\n'],
    ['an object of no known kind', '{"a": 1}\n'],
    ['an error that is not an object', '{"error": 7}\n'],
  ])('closes the connection on a line that is %s', async (_, line) => {
    const server = new FakeQmpServer(() => null);
    const client = await connect(server);
    const waiting = client.execute('stop');
    server.sendRaw(line);
    await expect(waiting).rejects.toMatchObject({ code: 'QMP_PROTOCOL_INVALID' });
    await client.closed;
    expect(server.clientSide.destroyed).toBe(true);
  });

  it('closes the connection on a line without end instead of holding it', async () => {
    const server = new FakeQmpServer(() => null);
    const client = await connect(server);
    const waiting = client.execute('stop');
    server.sendRaw(Buffer.alloc(1024 * 1024 + 1, 'x'));
    await expect(waiting).rejects.toMatchObject({ code: 'QMP_PROTOCOL_INVALID' });
  });

  it('gives up and destroys the transport when there is no greeting', async () => {
    const server = new FakeQmpServer(undefined, { greets: false });
    await expect(QmpClient.negotiate(server.clientSide, { deadlineMs: 5 })).rejects.toMatchObject({
      code: 'QMP_TIMEOUT',
    });
    expect(server.clientSide.destroyed).toBe(true);
  });

  it('keeps events that came before anybody listened, and the order of all', async () => {
    const server = new FakeQmpServer();
    const client = await connect(server);
    server.emitEvent('RESUME', {}, 1500.25);
    await client.execute('sync');
    const seen: QmpEvent[] = [];
    client.onEvent((event) => seen.push(event));
    server.emitEvent('SHUTDOWN', { guest: true, reason: 'guest-shutdown' });
    await client.execute('sync');
    expect(seen.map((e) => e.name)).toEqual(['RESUME', 'SHUTDOWN']);
    expect(seen[0]).toMatchObject({ atMs: 1500.25, data: {} });
    expect(seen[1]?.data).toEqual({ guest: true, reason: 'guest-shutdown' });
    expect(JSON.parse(seen[1]?.raw ?? '')).toMatchObject({ event: 'SHUTDOWN' });
    expect(client.lostEvents).toBe(0);
  });

  it('delivers events also when one listener throws, and not after unsubscribing', async () => {
    const server = new FakeQmpServer();
    const client = await connect(server);
    const seen: string[] = [];
    client.onEvent(() => {
      throw new Error('listener bug');
    });
    const unsubscribe = client.onEvent((event) => seen.push(event.name));
    server.emitEvent('STOP');
    await client.execute('sync');
    unsubscribe();
    server.emitEvent('RESUME');
    await client.execute('sync');
    expect(seen).toEqual(['STOP']);
  });

  it('counts events that nobody listened to beyond what it keeps', async () => {
    const server = new FakeQmpServer();
    const client = await connect(server);
    for (let i = 0; i < 1001; i++) server.emitEvent('RTC_CHANGE');
    await client.execute('sync');
    expect(client.lostEvents).toBe(1);
  });

  it('marks the time of an event without a usable timestamp as unknown', async () => {
    const server = new FakeQmpServer();
    const client = await connect(server);
    const seen: QmpEvent[] = [];
    client.onEvent((event) => seen.push(event));
    server.sendRaw(
      '{"event":"A","timestamp":{"seconds":-1,"microseconds":-1}}\n{"event":"B"}\n{"event":"C","timestamp":{"seconds":"1"}}\n',
    );
    await client.execute('sync');
    expect(seen.map((e) => [e.name, e.atMs])).toEqual([
      ['A', null],
      ['B', null],
      ['C', null],
    ]);
  });

  it('reads the same events however the bytes are split', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ name: fc.stringMatching(/^[A-Z_]{1,12}$/), text: fc.string({ unit: 'grapheme' }) }), {
          maxLength: 8,
        }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 40 }),
        async (events, sizes) => {
          const server = new FakeQmpServer();
          const client = await connect(server);
          const seen: unknown[] = [];
          client.onEvent((event) => seen.push({ name: event.name, text: event.data['text'] }));
          const lines = events.map(({ name, text }) => `${JSON.stringify({ event: name, data: { text } })}\r\n`);
          const bytes = Buffer.from(lines.join(''));
          for (let at = 0, i = 0; at < bytes.length; i++) {
            const size = sizes[i % sizes.length] ?? 1;
            server.sendRaw(bytes.subarray(at, at + size));
            at += size;
          }
          await client.execute('sync');
          expect(seen).toEqual(events);
          client.close();
        },
      ),
      { numRuns: 50 },
    );
  });

  it('survives any bytes with a typed error at most', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const server = new FakeQmpServer(() => null);
        const client = await connect(server);
        const waiting = client.execute('stop');
        server.sendRaw(bytes);
        server.hangUp();
        await expect(waiting).rejects.toMatchObject({ code: expect.stringMatching(/^QMP_(CLOSED|PROTOCOL_INVALID)$/) });
      }),
      { numRuns: 50 },
    );
  });
});
