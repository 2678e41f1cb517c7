import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { TERMINAL_PROTOCOL, TERMINAL_TICKET_PREFIX, vmError, vmOps } from '@inquest/contracts-vm';
import { eventually } from '@inquest/testing';
import { GatewayHarness, TOKEN } from '../testing/gateway-harness';
import { MACHINE_ID } from '../testing/machine-routes';

const TICKET = 'a-ticket_of-24-bytes';
const PROTOCOLS = [TERMINAL_PROTOCOL, `${TERMINAL_TICKET_PREFIX}${TICKET}`];
const MIB = 1024 * 1024;

describe('the WebSocket of a terminal', () => {
  let edge: GatewayHarness;
  let node: Server;
  let sockets: WebSocketServer;
  const handshakes: IncomingMessage[] = [];

  beforeAll(async () => {
    edge = await GatewayHarness.start();
    node = createServer((_, response) => {
      response.writeHead(429, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ ...vmError('TERMINAL_LIMIT_REACHED', 'full').toBody(), detail: 'full' }));
    }).listen(0, '127.0.0.1');
    await once(node, 'listening');
    sockets = new WebSocketServer({ noServer: true });
  }, 120_000);
  afterAll(async () => {
    await edge.stop();
    for (const socket of sockets.clients) socket.terminate();
    node.close();
  }, 60_000);
  beforeEach(() => {
    handshakes.length = 0;
    edge.calls.length = 0;
    edge.answering = (subject) =>
      subject === vmOps.locateTerminal.subject
        ? { url: `${nodeUrl()}/v1/terminals/${TICKET}?signature=s`, method: 'GET', expiresAtMs: Date.now() + 60_000 }
        : {};
    node.removeAllListeners('upgrade');
    node.on('upgrade', (request: IncomingMessage, socket, head) => {
      handshakes.push(request);
      sockets.handleUpgrade(request, socket, head, (accepted) => sockets.emit('connection', accepted, request));
    });
  });

  const nodeUrl = (): string => `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  const dial = (
    options: { readonly protocols?: string[]; readonly headers?: Record<string, string> } = {},
  ): WebSocket =>
    new WebSocket(
      `${edge.url.replace(/^http/, 'ws')}/v1/machines/${MACHINE_ID}/terminal-socket`,
      options.protocols ?? PROTOCOLS,
      { headers: options.headers ?? {} },
    );
  /** Both ends of a terminal's socket. */
  const open = async (): Promise<{ readonly viewer: WebSocket; readonly terminal: WebSocket }> => {
    const viewer = dial();
    const [[terminal]] = (await Promise.all([once(sockets, 'connection'), once(viewer, 'open')])) as [[WebSocket], []];
    return { viewer, terminal };
  };
  const refusal = async (socket: WebSocket): Promise<{ readonly status: number; readonly code: string }> => {
    socket.on('error', () => undefined);
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    const chunks = await response.toArray();
    const { code } = JSON.parse(Buffer.concat(chunks as Buffer[]).toString()) as { readonly code: string };
    return { status: response.statusCode ?? 0, code };
  };

  it('reaches the node of the machine with a ticket in place of a token, and shows the ticket to nobody else', async () => {
    const { viewer, terminal } = await open();
    expect(viewer.protocol).toBe(TERMINAL_PROTOCOL);
    expect(edge.calls).toEqual([
      {
        subject: vmOps.locateTerminal.subject,
        request: { machineId: MACHINE_ID, ticket: TICKET },
        node: 'n1',
      },
    ]);
    expect(handshakes[0]?.headers['sec-websocket-protocol']).toBe(TERMINAL_PROTOCOL);
    expect(JSON.stringify(handshakes[0]?.headers)).not.toContain(TOKEN);
    terminal.send(Buffer.from([0, 255]));
    expect(await once(viewer, 'message')).toEqual([Buffer.from([0, 255]), true]);
    viewer.send('{"type":"take-control"}');
    expect(await once(terminal, 'message')).toEqual([Buffer.from('{"type":"take-control"}'), false]);
    viewer.terminate();
    await once(terminal, 'close');
  });

  it('passes the close of the terminal on, after everything that it sent', async () => {
    const { viewer, terminal } = await open();
    let receivedBytes = 0;
    viewer.on('message', (data: Buffer) => (receivedBytes += data.length));
    for (let sent = 0; sent < 8; sent++) terminal.send(Buffer.alloc(MIB));
    terminal.close(1000);
    expect((await once(viewer, 'close'))[0]).toBe(1000);
    expect(receivedBytes).toBe(8 * MIB);
  });

  it('holds nothing for a viewer that takes nothing', async () => {
    const { viewer, terminal } = await open();
    viewer.pause();
    for (let sent = 0; sent < 64; sent++) terminal.send(Buffer.alloc(MIB));
    // What neither the gateway nor the network takes stays with the node.
    await eventually(() => terminal.bufferedAmount > 0 && terminal.bufferedAmount < 64 * MIB);
    expect(terminal.bufferedAmount).toBeGreaterThan(32 * MIB);
    viewer.terminate();
    await once(terminal, 'close');
  });

  it('is refused as the node refuses it', async () => {
    node.removeAllListeners('upgrade');
    await expect(refusal(dial())).resolves.toEqual({ status: 429, code: 'TERMINAL_LIMIT_REACHED' });
  });

  it('is refused when the node is away, or does not know the ticket', async () => {
    edge.answering = () => ({ url: 'http://127.0.0.1:1/v1/terminals/x', method: 'GET', expiresAtMs: 1 });
    await expect(refusal(dial())).resolves.toEqual({ status: 503, code: 'NODE_UNAVAILABLE' });
    edge.answering = () => {
      throw vmError('STREAM_TICKET_INVALID', 'used up');
    };
    await expect(refusal(dial())).resolves.toEqual({ status: 403, code: 'STREAM_TICKET_INVALID' });
    expect(handshakes).toEqual([]);
  });

  it.each([
    ['a page of another site', { headers: { origin: 'https://evil.example' } }, 'HTTP_ORIGIN_REFUSED'],
    ['a host name that is rebound', { headers: { host: 'evil.example' } }, 'HTTP_HOST_REFUSED'],
    ['nobody with a ticket', { protocols: [TERMINAL_PROTOCOL] }, 'STREAM_TICKET_INVALID'],
    [
      'a token in place of a ticket',
      { protocols: [TERMINAL_PROTOCOL], headers: { authorization: `Bearer ${TOKEN}` } },
      'STREAM_TICKET_INVALID',
    ],
  ])('is not for %s, and no node is asked', async (_, options, code) => {
    await expect(refusal(dial(options))).resolves.toEqual({ status: 403, code });
    expect(edge.calls).toEqual([]);
    expect(handshakes).toEqual([]);
  });

  it('is at no other address', async () => {
    const socket = new WebSocket(`${edge.url.replace(/^http/, 'ws')}/v1/machines/${MACHINE_ID}`, PROTOCOLS);
    await expect(refusal(socket)).resolves.toEqual({ status: 404, code: 'HTTP_ROUTE_UNKNOWN' });
  });
});
