import { randomBytes } from 'node:crypto';

/** Nobody guesses it, whatever else may guard what the ticket is for. */
const ID_BYTES = 24;
/** Long enough to hand it on and connect, too short to be worth stealing. */
const TICKET_LIFETIME_MS = 60_000;
/** Tickets that nobody used yet, each with a request of up to 1 MiB. More means that somebody asks without using. */
const MAX_OPEN_TICKETS = 500;

/** A ticket as it is handed out. */
export interface IssuedTicket {
  readonly id: string;
  readonly expiresAtMs: number;
  /** What is left of its time. */
  readonly lifetimeMs: number;
}

/** Requests that wait here for whoever brings the ticket for them: once, within a minute. */
export class OneTimeTickets<Request> {
  private readonly open = new Map<string, { readonly request: Request; readonly expiresAtMs: number }>();

  /** Where too many are open, the oldest one becomes invalid. */
  issue(request: Request): IssuedTicket {
    this.dropExpired();
    const id = randomBytes(ID_BYTES).toString('base64url');
    const expiresAtMs = Date.now() + TICKET_LIFETIME_MS;
    this.open.set(id, { request, expiresAtMs });
    return { id, expiresAtMs, lifetimeMs: TICKET_LIFETIME_MS };
  }

  /** A ticket that can still be used, or null. */
  find(id: string): IssuedTicket | null {
    const ticket = this.open.get(id);
    const lifetimeMs = (ticket?.expiresAtMs ?? 0) - Date.now();
    return ticket === undefined || lifetimeMs <= 0 ? null : { id, expiresAtMs: ticket.expiresAtMs, lifetimeMs };
  }

  /** The request behind a ticket, which is used up by it; null when it is unknown, used up or expired. */
  take(id: string): Request | null {
    const ticket = this.open.get(id);
    this.open.delete(id);
    return ticket !== undefined && ticket.expiresAtMs > Date.now() ? ticket.request : null;
  }

  private dropExpired(): void {
    const now = Date.now();
    for (const [id, { expiresAtMs }] of this.open) {
      // Insertion order is expiry order, so the rest is younger.
      if (expiresAtMs > now && this.open.size < MAX_OPEN_TICKETS) return;
      this.open.delete(id);
    }
  }
}
