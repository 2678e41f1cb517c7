import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { freePort } from '@inquest/testing';
import { DEFAULT_EGRESS_LIMITS } from './egress-limits';
import type { EgressRecord } from './egress-record';
import { LOCAL_MODEL_PORT, LocalModelPipe } from './local-model-pipe';
import { createGuest, type Guest } from './testing';

describe('LocalModelPipe', () => {
  let model: Server;
  let guest: Guest;
  let pipe: LocalModelPipe;
  const records: EgressRecord[] = [];
  const received: string[] = [];

  beforeEach(async () => {
    records.length = received.length = 0;
    model = createServer({ allowHalfOpen: true }, (socket) => {
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.once('end', () => {
        const request = Buffer.concat(chunks).toString();
        received.push(request);
        socket.end(`answer to ${request}`);
      });
    }).listen(0, '127.0.0.1');
    await once(model, 'listening');
    await openPipe((model.address() as AddressInfo).port);
  });
  afterEach(async () => {
    await pipe.close();
    await guest.close();
    model.close();
  });

  async function openPipe(port: number): Promise<void> {
    pipe = new LocalModelPipe({
      endpoint: { host: '127.0.0.1', port },
      limits: DEFAULT_EGRESS_LIMITS,
      record: (record) => Promise.resolve(void records.push(record)),
    });
    guest = await createGuest(LOCAL_MODEL_PORT, pipe.accept);
  }

  it('carries what a guest sends to the one endpoint, and its answer back', async () => {
    const stream = await guest.connect();
    stream.end('hello');
    await expect(text(stream)).resolves.toBe('answer to hello');
    await pipe.close();
    expect(records).toMatchObject([
      { way: 'local_model', verdict: 'allowed', host: '127.0.0.1', isClosed: false },
      { way: 'local_model', verdict: 'allowed', isClosed: true, bytesUp: 5, bytesDown: 15 },
    ]);
  });

  it('takes a destination that a guest writes for part of what it says', async () => {
    const stream = await guest.connect();
    stream.end('CONNECT other.example:443 HTTP/1.1\r\n\r\n');
    await expect(text(stream)).resolves.toContain('answer to CONNECT other.example:443');
    expect(received).toEqual(['CONNECT other.example:443 HTTP/1.1\r\n\r\n']);
    expect(records).toMatchObject([{ host: '127.0.0.1', port: (model.address() as AddressInfo).port }, {}]);
  });

  it('ends the connection, and says why in its record, when no model listens', async () => {
    await guest.close();
    await openPipe(await freePort());
    const stream = await guest.connect();
    stream.write('hello');
    expect(await buffer(stream)).toHaveLength(0);
    await pipe.close();
    expect(records).toMatchObject([{ verdict: 'failed', code: 'EGRESS_HOST_UNREACHABLE', isClosed: true }]);
  });
});
