import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { agentOps } from '@inquest/contracts-agent';
import { vmOps } from '@inquest/contracts-vm';
import { CleanupStack } from '@inquest/kernel';
import { eventually } from '@inquest/testing';
import { GatewayHarness, TOKEN } from '../testing/gateway-harness';
import { MACHINE_ID } from '../testing/machine-routes';

const MIB = 1024 * 1024;
type Serving = (request: IncomingMessage, response: ServerResponse) => void;

describe('byte streams through the gateway', () => {
  const cleanup = new CleanupStack();
  let edge: GatewayHarness;
  let node: Server;
  /** What the node does with a stream. */
  let serving: Serving;
  let ticketUrl: string;

  beforeAll(async () => {
    edge = await GatewayHarness.start();
    cleanup.defer('gateway', () => edge.stop());
    node = createServer((request, response) => serving(request, response));
    await once(node.listen(0, '127.0.0.1'), 'listening');
    cleanup.defer('node', () => {
      node.closeAllConnections();
      node.close();
    });
  }, 120_000);
  afterAll(() => cleanup.run(), 60_000);

  beforeEach(() => {
    edge.calls.length = 0;
    serving = (request, response) => void request.resume().once('end', () => response.end());
    ticketUrl = `http://127.0.0.1:${(node.address() as AddressInfo).port}/v1/streams/t-1?signature=s`;
    const methods: Record<string, string> = { exec: 'POST', put: 'PUT', get: 'GET' };
    edge.answering = (subject, request) =>
      subject === vmOps.openStream.subject
        ? { url: ticketUrl, method: methods[(request as { kind: string }).kind], expiresAtMs: 1 }
        : { machineId: MACHINE_ID };
  });

  const open = (method: string, route: string, headers: Record<string, string> = {}) =>
    httpRequest(`${edge.url}/v1/machines/${MACHINE_ID}/${route}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, ...headers },
    });
  const answerOf = async (asked: ReturnType<typeof open>): Promise<IncomingMessage> => {
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    return response;
  };
  const exec = async (): Promise<IncomingMessage> => {
    const asked = open('POST', 'exec-stream', { 'content-type': 'application/json' });
    asked.end(JSON.stringify({ command: 'make', env: { A: '1' }, timeoutMs: 5 }));
    return answerOf(asked);
  };
  const problemOf = async (response: IncomingMessage) => ({
    status: response.statusCode,
    code: (JSON.parse(await text(response)) as { code: string }).code,
  });

  it('ask for a ticket with the command, and keep it out of the address', async () => {
    const answer = await exec();
    expect(answer.statusCode).toBe(200);
    await text(answer);
    expect(edge.calls.at(-1)).toMatchObject({
      subject: vmOps.openStream.subject,
      node: 'n1',
      request: { machineId: MACHINE_ID, kind: 'exec', command: 'make', env: { A: '1' }, timeoutMs: 5, stdin: false },
    });
  });

  it('pass output on as it comes, with its type and the trace id', async () => {
    let traceId: unknown;
    let goOn: () => void = () => undefined;
    serving = (request, response) => {
      traceId = request.headers['x-request-id'];
      response.writeHead(200, { 'content-type': 'application/vnd.inquest.frames' });
      response.write('first');
      goOn = () => response.end('second');
    };
    const answer = await exec();
    expect(answer.headers['content-type']).toBe('application/vnd.inquest.frames');
    const [first] = (await once(answer, 'data')) as [Buffer];
    expect(first.toString()).toBe('first');
    goOn();
    expect(await text(answer)).toBe('second');
    expect(traceId).toBe(answer.headers['x-request-id']);
  });

  it('pass a refusal of the node on with its status and body', async () => {
    serving = (_request, response) =>
      void response
        .writeHead(409, { 'content-type': 'application/problem+json' })
        .end(JSON.stringify({ code: 'MACHINE_INCARNATION_STALE' }));
    const answer = await exec();
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(await problemOf(answer)).toEqual({ status: 409, code: 'MACHINE_INCARNATION_STALE' });
  });

  it('end at the node when the caller hangs up', async () => {
    const hungUp = new Promise<void>((resolve) => {
      serving = (_request, response) => {
        response.once('close', resolve);
        response.writeHead(200).write('begun');
      };
    });
    const answer = await exec();
    answer.destroy();
    await hungUp;
  });

  it('are not even opened at the node when the caller has hung up before', async () => {
    let streams = 0;
    serving = (_request, response) => {
      streams++;
      response.end();
    };
    let giveTicket: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (giveTicket = resolve));
    const { answering } = edge;
    edge.answering = async (subject, request) => {
      if (subject === vmOps.openStream.subject) await held;
      return answering(subject, request);
    };
    const asked = open('GET', 'files?path=/srv');
    asked.on('error', () => undefined);
    asked.end();
    await eventually(() => edge.calls.some(({ subject }) => subject === vmOps.openStream.subject));
    const port = asked.socket?.localPort ?? 0;
    asked.destroy();
    await eventually(() => edge.closedPorts.has(port));
    giveTicket();
    await edge.request('GET', '/v1/images');
    expect(streams).toBe(0);
  });

  it('are cut, not ended, when the node goes away', async () => {
    serving = (_request, response) => {
      response.writeHead(200).write('begun');
      setImmediate(() => response.destroy());
    };
    const answer = await exec();
    await expect(text(answer)).rejects.toThrow(/aborted/);
  });

  it('answer that a node cannot be reached', async () => {
    ticketUrl = 'http://127.0.0.1:9/v1/streams/t-1';
    expect(await problemOf(await exec())).toEqual({ status: 503, code: 'NODE_UNAVAILABLE' });
  });

  it('slow a fast side down to the pace of the slow one', async () => {
    let writtenBytes = 0;
    let isFull = false;
    serving = (_request, response) => {
      const chunk = Buffer.alloc(MIB);
      const more = (): void => {
        while (writtenBytes < 256 * MIB) {
          writtenBytes += chunk.length;
          if (!response.write(chunk)) {
            isFull = true;
            response.once('drain', more);
            return;
          }
        }
      };
      more();
    };
    const asked = open('GET', 'files?path=/srv');
    asked.end();
    const answer = await answerOf(asked);
    await eventually(() => isFull);
    expect(writtenBytes).toBeLessThan(64 * MIB);
    answer.destroy();
  });

  describe('a put', () => {
    it('takes any bytes and gives the answer of the node', async () => {
      let taken = Buffer.alloc(0);
      serving = (request, response) =>
        void buffer(request).then((bytes) => {
          taken = bytes;
          response.writeHead(200, { 'content-type': 'application/json' }).end('{"entries":1,"bytes":3145728}');
        });
      const asked = open('PUT', 'files?path=/srv&exclude=a&exclude=b');
      asked.end(Buffer.alloc(3 * MIB, 'x'));
      const answer = await answerOf(asked);
      expect(await text(answer)).toBe('{"entries":1,"bytes":3145728}');
      expect(taken.equals(Buffer.alloc(3 * MIB, 'x'))).toBe(true);
      expect(edge.calls.at(-1)).toMatchObject({
        request: { kind: 'put', path: '/srv', archive: 'tar', exclude: ['a', 'b'] },
      });
    });

    it('that is refused before all of it was sent still gets the refusal', async () => {
      serving = (_request, response) =>
        void response.writeHead(507, { 'content-type': 'application/problem+json' }).end('{"code":"DISK_FULL"}');
      const asked = open('PUT', 'files?path=/srv/big&archive=file');
      asked.write(Buffer.alloc(4 * MIB));
      const answer = await answerOf(asked);
      expect(await problemOf(answer)).toEqual({ status: 507, code: 'DISK_FULL' });
      asked.end(Buffer.alloc(4 * MIB));
    });

    it('ends at the node when the caller breaks off', async () => {
      const broken = new Promise<void>((resolve) => {
        serving = (request) => void request.resume().once('error', () => resolve());
      });
      // Listened for before the request: it may arrive before anything else is looked at.
      const arrived = once(node, 'request');
      const asked = open('PUT', 'files?path=/srv/big&archive=file');
      asked.on('error', () => undefined);
      asked.write(Buffer.alloc(MIB));
      await arrived;
      asked.destroy();
      await broken;
    });

    it('is refused as JSON, which would be taken for a request and be lost', async () => {
      const asked = open('PUT', 'files?path=/srv/a.json&archive=file', { 'content-type': 'application/json' });
      asked.end('{"mine": true}');
      expect(await problemOf(await answerOf(asked))).toEqual({ status: 415, code: 'HTTP_MEDIA_UNSUPPORTED' });
      expect(edge.calls).toEqual([]);
    });
  });

  describe('a picture of a screen', () => {
    const PICTURE = Buffer.alloc(3 * MIB, 7);
    const ticket = () => ({ url: ticketUrl, method: 'GET', expiresAtMs: 1 });
    beforeEach(() => {
      serving = (_request, response) => void response.writeHead(200, { 'content-type': 'image/png' }).end(PICTURE);
    });
    const take = async (of: string): Promise<IncomingMessage> => {
      const asked = httpRequest(`${edge.url}/v1/${of}/screenshot`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}` },
      });
      asked.end();
      return answerOf(asked);
    };

    it('of a machine comes as it is, whatever its size', async () => {
      edge.answering = () => ({ machineId: MACHINE_ID, width: 1, height: 1, sizeBytes: 1, picture: ticket() });
      const answer = await take(`machines/${MACHINE_ID}`);
      expect(answer.headers['content-type']).toBe('image/png');
      expect((await buffer(answer)).equals(PICTURE)).toBe(true);
      expect(edge.calls).toEqual([
        expect.objectContaining({
          subject: vmOps.screenshot.subject,
          node: 'n1',
          request: { machineId: MACHINE_ID, incarnation: null },
        }),
      ]);
    });

    it('of a session is its verb, answered with the picture', async () => {
      edge.answering = () => ({ outcome: 'ok', text: 'a picture', durationMs: 1, picture: ticket() });
      expect((await buffer(await take('sessions/ses-1'))).equals(PICTURE)).toBe(true);
      expect(edge.calls.at(-1)).toMatchObject({
        subject: agentOps.invokeVerb.subject,
        request: { sessionId: 'ses-1', verb: 'screenshot' },
      });
    });

    it('that a session cannot take is the result of the verb, which says why', async () => {
      const result = { outcome: 'error', text: 'it has no screen', durationMs: 1, picture: null };
      edge.answering = () => result;
      const answer = await take('sessions/ses-1');
      expect(JSON.parse(await text(answer))).toEqual(result);
    });

    it('is not told of by its address to who calls a verb', async () => {
      edge.answering = () => ({ outcome: 'ok', text: 'a picture', durationMs: 1, picture: ticket() });
      const { body } = await edge.request('POST', '/v1/sessions/ses-1/verbs/screenshot', {});
      expect(body).toEqual({ outcome: 'ok', text: 'a picture', durationMs: 1, picture: null });
    });
  });

  describe('a command with input', () => {
    it('gets everything behind the first line', async () => {
      let input = '';
      serving = (request, response) =>
        void text(request).then((all) => {
          input = all;
          response.end('done');
        });
      const asked = open('POST', 'exec-pipe', { 'content-type': 'application/octet-stream' });
      asked.write('{"command":"ca');
      asked.write('t"}\nfirst\n');
      asked.end('last');
      expect(await text(await answerOf(asked))).toBe('done');
      expect(input).toBe('first\nlast');
      expect(edge.calls.at(-1)).toMatchObject({ request: { kind: 'exec', command: 'cat', stdin: true } });
    });

    it.each([
      ['{"command":', 'INPUT_INVALID', 400],
      ['{"command":"x","surplus":1}\n', 'INPUT_INVALID', 400],
      ['[]\n', 'INPUT_INVALID', 400],
    ])('is refused for the first line %j', async (line, code, status) => {
      const asked = open('POST', 'exec-pipe', { 'content-type': 'application/octet-stream' });
      asked.end(line);
      expect(await problemOf(await answerOf(asked))).toEqual({ status, code });
      expect(edge.calls).toEqual([]);
    });

    it('is refused as JSON', async () => {
      const asked = open('POST', 'exec-pipe', { 'content-type': 'application/json' });
      asked.end('{"command":"cat"}\n');
      expect(await problemOf(await answerOf(asked))).toEqual({ status: 415, code: 'HTTP_MEDIA_UNSUPPORTED' });
    });
  });
});
