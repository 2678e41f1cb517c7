import { Injectable } from '@nestjs/common';
import { dto, StreamTicket } from '@inquest/contracts-base';
import { vmError } from '@inquest/contracts-vm';
import { UrlSigner } from '@inquest/http';
import { OneTimeTickets } from '../guest/one-time-tickets';
import { OwnAddress } from '../guest/own-address';

/** Pictures that nobody fetched yet; more means that somebody asks without fetching. Fits four of the largest. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;

/** Pictures that wait for their reader: each is given away once, within a minute, and forgotten then. */
@Injectable()
export class Pictures {
  private readonly tickets = new OneTimeTickets<Uint8Array>();
  /** Bytes by ticket, oldest first. */
  private readonly held = new Map<string, number>();

  constructor(
    private readonly address: OwnAddress,
    private readonly signer: UrlSigner,
  ) {}

  /** An address for a PNG. Where too much is held, the oldest address becomes invalid. */
  hold(png: Uint8Array): StreamTicket {
    const { id, expiresAtMs, lifetimeMs } = this.tickets.issue(png);
    this.held.set(id, png.length);
    for (const oldest of this.held.keys()) {
      if (oldest === id || this.heldBytes <= MAX_HELD_BYTES) break;
      this.forget(oldest);
    }
    setTimeout(() => this.forget(id), lifetimeMs).unref();
    const path = this.signer.signPath('GET', `/v1/pictures/${id}`, lifetimeMs);
    return dto(StreamTicket, { url: `${this.address.baseUrl}${path}`, method: 'GET', expiresAtMs });
  }

  /** The PNG behind a ticket, which is used up by it. Throws `STREAM_TICKET_INVALID`. */
  give(id: string): Uint8Array {
    const png = this.forget(id);
    if (png !== null) return png;
    throw vmError('STREAM_TICKET_INVALID', 'the ticket of the picture is unknown, used up or expired');
  }

  private get heldBytes(): number {
    return [...this.held.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  private forget(id: string): Uint8Array | null {
    this.held.delete(id);
    return this.tickets.take(id);
  }
}
