import type { AddressInfo, Server } from 'node:net';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { dto, StreamTicket } from '@inquest/contracts-shared';
import { vmError, type OpenStreamRequest, type StreamKind } from '@inquest/contracts-vm';
import { UrlSigner } from '@inquest/http';
import { newId } from '@inquest/kernel';
import { VmServiceConfig } from '../vm-service.config';

/** Long enough to hand it on and connect, too short to be worth stealing. */
const TICKET_LIFETIME_MS = 60_000;
/** Tickets that nobody used yet, each with a request of up to 1 MiB. More means that somebody asks without using. */
const MAX_OPEN_TICKETS = 500;

/** What a server listens on that listens on all its addresses; loopback is one of them. */
const EVERY_ADDRESS: readonly string[] = ['0.0.0.0', '::'];

const METHODS: Readonly<Record<StreamKind, StreamTicket['method']>> = { exec: 'POST', put: 'PUT', get: 'GET' };

/**
 * Hands out addresses of byte streams, each good for one use. What the stream does stays here: commands and their
 * environment are in no URL.
 */
@Injectable()
export class StreamTickets {
  private readonly open = new Map<string, { readonly request: OpenStreamRequest; readonly expiresAtMs: number }>();

  constructor(
    private readonly config: VmServiceConfig,
    private readonly signer: UrlSigner,
    private readonly http: HttpAdapterHost,
  ) {}

  /** An address for `request`. Where too many are open, the oldest one becomes invalid. */
  issue(request: OpenStreamRequest): StreamTicket {
    this.dropExpired();
    const id = newId<string>('ticket');
    const expiresAtMs = Date.now() + TICKET_LIFETIME_MS;
    this.open.set(id, { request, expiresAtMs });
    const method = METHODS[request.kind];
    const path = this.signer.signPath(method, `/v1/streams/${id}`, TICKET_LIFETIME_MS);
    return dto(StreamTicket, { url: `${this.baseUrl()}${path}`, method, expiresAtMs });
  }

  /** The request behind a ticket, which is used up by it. Throws `STREAM_TICKET_INVALID`. */
  redeem(id: string, kind: StreamKind): OpenStreamRequest {
    const ticket = this.open.get(id);
    this.open.delete(id);
    if (ticket?.request.kind === kind && ticket.expiresAtMs > Date.now()) return ticket.request;
    throw vmError('STREAM_TICKET_INVALID', 'the stream ticket is unknown, used up or expired');
  }

  private dropExpired(): void {
    const now = Date.now();
    for (const [id, { expiresAtMs }] of this.open) {
      // Insertion order is expiry order, so the rest is younger.
      if (expiresAtMs > now && this.open.size < MAX_OPEN_TICKETS) return;
      this.open.delete(id);
    }
  }

  private baseUrl(): string {
    if (this.config.advertisedUrl !== undefined) return this.config.advertisedUrl.replace(/\/+$/, '');
    const { address, family, port } = (this.http.httpAdapter.getHttpServer() as Server).address() as AddressInfo;
    if (EVERY_ADDRESS.includes(address)) return `http://127.0.0.1:${port}`;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }
}
