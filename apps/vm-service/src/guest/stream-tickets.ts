import { Injectable } from '@nestjs/common';
import { dto, StreamTicket } from '@inquest/contracts-base';
import { vmError, type OpenStreamRequest, type StreamKind } from '@inquest/contracts-vm';
import { UrlSigner } from '@inquest/http';
import { OneTimeTickets } from './one-time-tickets';
import { OwnAddress } from './own-address';

/** How a stream of each kind is opened: method, and what follows the ticket in its path. */
const ROUTES: Readonly<Record<StreamKind, readonly [method: StreamTicket['method'], suffix: string]>> = {
  exec: ['POST', ''],
  put: ['PUT', ''],
  get: ['GET', ''],
  tail: ['GET', '/tail'],
};

/**
 * Hands out addresses of byte streams, each good for one use. What the stream does stays here: commands and their
 * environment are in no URL.
 */
@Injectable()
export class StreamTickets {
  private readonly tickets = new OneTimeTickets<OpenStreamRequest>();

  constructor(
    private readonly address: OwnAddress,
    private readonly signer: UrlSigner,
  ) {}

  /** An address for `request`. Where too many are open, the oldest one becomes invalid. */
  issue(request: OpenStreamRequest): StreamTicket {
    const { id, expiresAtMs, lifetimeMs } = this.tickets.issue(request);
    const [method, suffix] = ROUTES[request.kind];
    const path = this.signer.signPath(method, `/v1/streams/${id}${suffix}`, lifetimeMs);
    return dto(StreamTicket, { url: `${this.address.baseUrl}${path}`, method, expiresAtMs });
  }

  /** The request behind a ticket, which is used up by it. Throws `STREAM_TICKET_INVALID`. */
  redeem(id: string, kind: StreamKind): OpenStreamRequest {
    const request = this.tickets.take(id);
    if (request?.kind === kind) return request;
    throw vmError('STREAM_TICKET_INVALID', 'the stream ticket is unknown, used up or expired');
  }
}
