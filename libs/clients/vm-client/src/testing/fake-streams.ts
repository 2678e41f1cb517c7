import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { dto, StreamTicket } from '@inquest/contracts-base';
import { vmError, type OpenStreamRequest } from '@inquest/contracts-vm';
import { newId, toDomainError } from '@inquest/kernel';
import type { FakeVmService } from './fake-vm-service';

const TICKET_LIFETIME_MS = 60_000;

/** What goes wrong with a stream. `cut`: it breaks off in the middle; `hang`: nothing ever comes. */
export type StreamFault = 'cut' | 'hang';

/** The byte streams of `FakeVmService`: tar in and out, over real HTTP, each address good for one use. */
export class FakeStreams {
  private readonly tickets = new Map<string, OpenStreamRequest>();
  private readonly server: Server;
  private readonly pictures = new Map<string, Uint8Array>();
  /** Of each stream from now on; null: none. */
  fault: StreamFault | null = null;

  constructor(private readonly service: FakeVmService) {
    this.server = createServer((request, response) => void this.serve(request, response));
  }

  async listen(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  /** Breaks every stream that is open. */
  cutAll(): void {
    this.server.closeAllConnections();
  }

  issue(request: OpenStreamRequest): StreamTicket {
    const id = newId<string>('ticket');
    this.tickets.set(id, request);
    const { port } = this.server.address() as AddressInfo;
    return dto(StreamTicket, {
      url: `http://127.0.0.1:${port}/v1/streams/${id}`,
      method: request.kind === 'put' ? 'PUT' : 'GET',
      expiresAtMs: Date.now() + TICKET_LIFETIME_MS,
    });
  }

  /** An address of a picture, for one look. */
  issuePicture(png: Uint8Array): StreamTicket {
    const id = newId<string>('picture');
    this.pictures.set(id, png);
    const { port } = this.server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/v1/pictures/${id}`;
    return dto(StreamTicket, { url, method: 'GET', expiresAtMs: Date.now() + TICKET_LIFETIME_MS });
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.transfer(request, response);
    } catch (e) {
      if (response.headersSent || response.destroyed) return void response.destroy();
      const { message, ...body } = toDomainError(e).toBody();
      response.writeHead(body.status, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ ...body, detail: message }));
    }
  }

  private async transfer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = (request.url ?? '').split('/').at(-1) ?? '';
    const picture = this.pictures.get(id);
    this.pictures.delete(id);
    if (picture !== undefined) return void response.writeHead(200, { 'content-type': 'image/png' }).end(picture);
    const ticket = this.tickets.get(id);
    this.tickets.delete(id);
    if (ticket?.path == null) throw vmError('STREAM_TICKET_INVALID', 'the stream ticket is unknown or used up');
    const { files } = this.service.ready(ticket.machineId);
    if (this.fault === 'hang') return;
    if (ticket.kind === 'put') {
      const stored = await files.unpack(ticket.path, request);
      return void response.writeHead(200).end(JSON.stringify(stored));
    }
    response.writeHead(200, { 'content-type': 'application/x-tar' });
    if (this.fault === null) return pipeline(files.archive(ticket.path), response);
    // Less than a tar header: nothing in it can be judged before the break is seen.
    response.write(Buffer.alloc(256, 1), () => response.destroy());
  }
}
