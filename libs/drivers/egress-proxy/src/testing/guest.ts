import type { Duplex } from 'node:stream';
import type { GuestStreamHandler } from '@inquest/guest-link';
import { createMemoryLinkPair } from '@inquest/guest-link/testing';

/** A guest on the other end of a link. */
export interface Guest {
  /** A fresh connection to the way out. */
  connect(): Promise<Duplex>;
  close(): Promise<void>;
}

/** A guest whose connections to `port` of its host reach `handler`. */
export async function createGuest(port: number, handler: GuestStreamHandler): Promise<Guest> {
  const { host, guest } = createMemoryLinkPair();
  await host.listen(port, handler);
  return {
    connect: () => guest.connect(port, AbortSignal.timeout(30_000)),
    close: async () => void (await Promise.all([host.close(), guest.close()])),
  };
}
