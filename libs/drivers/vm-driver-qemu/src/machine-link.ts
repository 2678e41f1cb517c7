import type { Duplex } from 'node:stream';
import { abortable, delay } from '@inquest/kernel';
import {
  linkError,
  openSerialMuxLink,
  type FirstBytes,
  type GuestLink,
  type GuestListener,
  type GuestStreamHandler,
} from '@inquest/guest-link';

/** Between two sessions: a guest that ends each at once must not keep the host busy. */
const REOPEN_DELAY_MS = 250;

/** Opens one session and waits for the guest in it until the signal aborts. */
type OpenSession = (signal: AbortSignal) => Promise<GuestLink>;

interface Registration {
  readonly port: number;
  readonly handler: GuestStreamHandler;
  /** In the present session; null while there is none. */
  inSession: GuestListener | null;
}

/**
 * The guest link of one machine for its whole life. It looks for the guest agent from the moment it is made, and again
 * when a session ends while the machine lives (the agent was restarted, or broke the protocol). Listeners are kept, and
 * are there in every session before the guest can use it.
 */
export class MachineLink implements GuestLink {
  readonly closed: Promise<void>;
  private readonly ending = new AbortController();
  private readonly registrations = new Map<number, Registration>();
  private session: GuestLink | null = null;
  /** Connects that wait for the next session. */
  private readonly waiting = new Set<(session: GuestLink) => void>();

  constructor(private readonly openSession: OpenSession) {
    this.closed = this.keepSession();
  }

  /** The link over the unix socket of the machine's multiplexed serial port, which must be served already. */
  static overSerialPort(socketPath: string): MachineLink {
    return new MachineLink((signal) => openSerialMuxLink({ socketPath, signal }));
  }

  async connect(port: number, signal: AbortSignal, first?: FirstBytes): Promise<Duplex> {
    const session = this.session ?? (await this.nextSession(port, signal));
    return session.connect(port, signal, first);
  }

  async listen(port: number, handler: GuestStreamHandler): Promise<GuestListener> {
    if (this.ending.signal.aborted) throw closedError();
    if (this.registrations.has(port)) throw linkError('LINK_PORT_IN_USE', `port ${port} has a listener`, { port });
    const registration: Registration = { port, handler, inSession: null };
    this.registrations.set(port, registration);
    try {
      if (this.session !== null) await this.register(this.session, registration);
    } catch (e) {
      this.registrations.delete(port);
      throw e;
    }
    return { port, close: () => this.unregister(registration) };
  }

  async close(): Promise<void> {
    this.ending.abort();
    await this.closed;
  }

  private async nextSession(port: number, signal: AbortSignal): Promise<GuestLink> {
    let resolveSession: (session: GuestLink) => void = () => undefined;
    const next = new Promise<GuestLink>((resolve) => (resolveSession = resolve));
    this.waiting.add(resolveSession);
    try {
      return await abortable(next, AbortSignal.any([signal, this.ending.signal]), `connecting to guest port ${port}`);
    } catch (e) {
      throw this.ending.signal.aborted && !signal.aborted ? closedError() : e;
    } finally {
      this.waiting.delete(resolveSession);
    }
  }

  /** Runs until `close`. Never rejects. */
  private async keepSession(): Promise<void> {
    const { signal } = this.ending;
    while (!signal.aborted) {
      await this.useSession().catch(() => undefined);
      await delay(REOPEN_DELAY_MS, signal).catch(() => undefined);
    }
    this.registrations.clear();
  }

  /** One session from its handshake to its end. */
  private async useSession(): Promise<void> {
    const { signal } = this.ending;
    const session = await this.openSession(signal);
    const closeSession = (): void => void session.close();
    signal.addEventListener('abort', closeSession, { once: true });
    if (signal.aborted) closeSession();
    try {
      for (const registration of this.registrations.values()) await this.register(session, registration);
      this.session = session;
      for (const resolveSession of this.waiting) resolveSession(session);
      await session.closed;
    } finally {
      this.session = null;
      signal.removeEventListener('abort', closeSession);
      await session.close();
    }
  }

  private async register(session: GuestLink, registration: Registration): Promise<void> {
    const listener = await session.listen(registration.port, registration.handler);
    registration.inSession = listener;
    const isStillWanted = this.registrations.get(registration.port) === registration;
    if (!isStillWanted) await listener.close();
  }

  private async unregister(registration: Registration): Promise<void> {
    if (this.registrations.get(registration.port) === registration) this.registrations.delete(registration.port);
    await registration.inSession?.close();
  }
}

const closedError = () => linkError('LINK_CLOSED', 'the machine has ended and its link with it');
