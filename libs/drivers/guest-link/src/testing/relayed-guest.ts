import { createInterface } from 'node:readline';
import { type Duplex } from 'node:stream';
import { linkError } from '../errors';
import { type GuestLink, type GuestListener, type GuestStreamHandler } from '../guest-link';
import { assertPort } from '../port-handshake';
import { readLine } from '../stream-line';

/** Ports and lines of apps/guest-agent/cmd/link-peer. */
const CONTROL_PORT = 7000;
const RELAY_PORT = 7001;
const TITLE_MAX_BYTES = 64;
const ANSWER_MS = 60_000;

/** What is waited for: a line of the control stream, or a relayed stream. */
type Arrival = { readonly line: string } | { readonly stream: Duplex };

/**
 * The guest's end of a link whose guest runs `link-peer`: what is asked of it happens in the guest, and each stream of
 * the guest arrives here over the same link.
 */
export class RelayedGuest implements GuestLink {
  readonly closed: Promise<void>;
  private resolveClosed: () => void = () => undefined;
  private readonly handlers = new Map<number, GuestStreamHandler>();
  private readonly waiting = new Map<string, (arrival: Arrival) => void>();
  private connects = 0;

  private constructor(private readonly control: Duplex) {
    this.closed = new Promise((resolve) => (this.resolveClosed = resolve));
    const lines = createInterface({ input: control });
    lines.on('line', (line) => this.arrive(line, { line }));
    // The end of the control stream is the end of the link under test, which the tests themselves look at.
    lines.on('error', () => undefined);
  }

  /** Waits until the guest is up, or `signal` aborts. `host` is the other end; closing that ends this one. */
  static async over(host: GuestLink, signal: AbortSignal): Promise<RelayedGuest> {
    let takeRelayed: GuestStreamHandler = (stream) => void stream.destroy();
    await host.listen(RELAY_PORT, (stream) => takeRelayed(stream));
    const control = await new Promise<Duplex>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      host.listen(CONTROL_PORT, resolve).catch(reject);
    });
    const guest = new RelayedGuest(control);
    takeRelayed = (stream) => void guest.takeRelayed(stream);
    return guest;
  }

  async connect(port: number, signal: AbortSignal): Promise<Duplex> {
    assertPort(port);
    const id = `c${++this.connects}`;
    const arrival = await this.order(`connect ${id} ${port}`, [`connected ${id}`, `refused ${id}`], signal);
    if ('stream' in arrival) return arrival.stream;
    throw linkError('LINK_PORT_REFUSED', `the host refused port ${port}`, { port });
  }

  async listen(port: number, handler: GuestStreamHandler): Promise<GuestListener> {
    this.handlers.set(port, handler);
    await this.order(`listen ${port}`, [`listening ${port}`]);
    return {
      port,
      close: async () => {
        this.handlers.delete(port);
        await this.order(`unlisten ${port}`, [`unlistening ${port}`]);
      },
    };
  }

  close(): Promise<void> {
    this.control.destroy();
    this.resolveClosed();
    return Promise.resolve();
  }

  /** Tells the guest, and waits for the first of these arrivals. */
  private order(order: string, arrivals: readonly string[], signal = AbortSignal.timeout(ANSWER_MS)): Promise<Arrival> {
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void): void => {
        for (const name of arrivals) this.waiting.delete(name);
        signal.removeEventListener('abort', onAbort);
        finish();
      };
      const onAbort = (): void => settle(() => reject(new Error(`the guest does not answer "${order}"`)));
      for (const name of arrivals) this.waiting.set(name, (arrival) => settle(() => resolve(arrival)));
      signal.addEventListener('abort', onAbort, { once: true });
      this.control.write(`${order}\n`);
    });
  }

  private arrive(name: string, arrival: Arrival): boolean {
    const take = this.waiting.get(name);
    take?.(arrival);
    return take !== undefined;
  }

  private async takeRelayed(stream: Duplex): Promise<void> {
    const title = await readLine(stream, TITLE_MAX_BYTES, AbortSignal.timeout(ANSWER_MS)).catch(() => null);
    const port = /^accepted (\d+)$/.exec(title ?? '')?.[1];
    const handler = this.handlers.get(Number(port));
    if (handler !== undefined) return handler(stream);
    if (title === null || !this.arrive(title, { stream })) stream.destroy();
  }
}
