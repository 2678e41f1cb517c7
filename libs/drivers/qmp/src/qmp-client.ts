import type { Duplex } from 'node:stream';
import { kernelError } from '@inquest/kernel';
import { qmpError } from './errors';
import { EventQueue, type QmpEventListener } from './event-queue';
import { LineSplitter, MAX_LINE_BYTES } from './line-splitter';
import { parseMessage, type JsonObject, type QmpMessage } from './messages';

/** How long one exchange may take. */
export interface QmpDeadline {
  /** In ms; 10 000 when absent. */
  readonly deadlineMs?: number;
  /** Gives up earlier, with `OPERATION_ABORTED`. */
  readonly signal?: AbortSignal;
}

/** A monitor answers in milliseconds, on a crowded host in a second; one that is silent this long is stuck. */
const DEFAULT_DEADLINE_MS = 10_000;

interface Exchange {
  readonly what: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: Error) => void;
}

/**
 * A client of QEMU's machine protocol (JSON, one object per line) over a connected stream, which it owns.
 * Every failure is a typed error; one bad or oversized line closes the connection, because nothing after it can be trusted.
 */
export class QmpClient {
  /** Settles once the connection is gone, whoever closed it and why. Never rejects. */
  readonly closed: Promise<void>;
  private readonly lines = new LineSplitter(MAX_LINE_BYTES);
  private readonly events = new EventQueue();
  private readonly exchanges = new Map<number | 'greeting', Exchange>();
  private nextId = 1;
  private greeting: string | null = null;
  private closeReason: Error | null = null;
  private settleClosed: () => void = () => undefined;

  private constructor(private readonly transport: Duplex) {
    this.closed = new Promise((resolve) => (this.settleClosed = resolve));
    transport.on('data', (chunk: Buffer) => this.receive(chunk));
    transport.on('error', (e) =>
      this.fail(qmpError('QMP_CLOSED', `the monitor's connection failed: ${e.message}`, {}, e)),
    );
    transport.on('end', () => this.fail(qmpError('QMP_CLOSED', 'the monitor closed the connection')));
    transport.on('close', () => this.fail(qmpError('QMP_CLOSED', 'the connection to the monitor is closed')));
  }

  /**
   * Waits for the greeting and negotiates capabilities; once it resolves the monitor's main loop is known to run.
   * On rejection (`QMP_CLOSED`, `QMP_TIMEOUT`, `QMP_PROTOCOL_INVALID`, `OPERATION_ABORTED`) the transport is destroyed.
   */
  static async negotiate(transport: Duplex, deadline: QmpDeadline = {}): Promise<QmpClient> {
    const client = new QmpClient(transport);
    try {
      await client.greeted(deadline);
      await client.execute('qmp_capabilities', {}, deadline);
      return client;
    } catch (e) {
      client.close();
      throw e;
    }
  }

  /** The monitor's version, such as `7.2.22`. */
  get version(): string {
    return this.greeting ?? '?';
  }

  /** Events that were dropped because nobody listened; 0 in ordinary use. */
  get lostEvents(): number {
    return this.events.lostEvents;
  }

  /**
   * Runs one command and gives its `return` value, unvalidated. Rejects with `QMP_COMMAND_FAILED`, `QMP_CLOSED`,
   * `QMP_TIMEOUT` or `OPERATION_ABORTED`. After the last two the command may still take effect; its late answer is ignored
   * and the connection stays usable.
   */
  execute(command: string, args: JsonObject = {}, deadline: QmpDeadline = {}): Promise<unknown> {
    const id = this.nextId++;
    const answered = this.exchange(id, `the answer to ${command}`, deadline);
    if (this.closeReason === null)
      this.transport.write(`${JSON.stringify({ execute: command, arguments: args, id })}\n`);
    return answered;
  }

  /** Calls `listener` for every event, in order, beginning with those that nobody has heard yet. Returns the unsubscribe function. */
  onEvent(listener: QmpEventListener): () => void {
    return this.events.subscribe(listener);
  }

  /** Closes the connection; what is unanswered rejects with `QMP_CLOSED`. Idempotent. */
  close(): void {
    this.fail(qmpError('QMP_CLOSED', 'the connection to the monitor was closed by its user'));
  }

  private async greeted(deadline: QmpDeadline): Promise<void> {
    if (this.greeting === null) await this.exchange('greeting', 'the greeting', deadline);
  }

  private exchange(id: number | 'greeting', what: string, { deadlineMs, signal }: QmpDeadline): Promise<unknown> {
    if (this.closeReason !== null) return Promise.reject(this.closeReason);
    if (signal?.aborted) return Promise.reject(abortedError(what, signal));
    const limitMs = deadlineMs ?? DEFAULT_DEADLINE_MS;
    return new Promise<unknown>((resolve, reject) => {
      const onAbort = (): void => finish(() => reject(abortedError(what, signal)));
      const timer = setTimeout(
        () =>
          finish(() =>
            reject(qmpError('QMP_TIMEOUT', `the monitor did not send ${what} within ${limitMs} ms`, { limitMs })),
          ),
        limitMs,
      );
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.exchanges.delete(id);
        settle();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.exchanges.set(id, {
        what,
        resolve: (value) => finish(() => resolve(value)),
        reject: (reason) => finish(() => reject(reason)),
      });
    });
  }

  private receive(chunk: Buffer): void {
    for (const line of this.lines.push(chunk)) {
      if (this.closeReason !== null) return;
      const message = line === null ? null : parseMessage(line);
      if (message === null) return this.fail(invalidLine(line));
      this.handle(message);
    }
  }

  private handle(message: QmpMessage): void {
    switch (message.kind) {
      case 'greeting':
        this.greeting = message.version;
        return this.exchanges.get('greeting')?.resolve(null);
      case 'event':
        return this.events.push(message.event);
      case 'return':
        return this.exchangeOf(message.id)?.resolve(message.value);
      case 'error': {
        const { errorClass, description } = message;
        const exchange = this.exchangeOf(message.id);
        return exchange?.reject(
          qmpError('QMP_COMMAND_FAILED', `instead of ${exchange.what} the monitor sent: ${description}`, {
            errorClass,
          }),
        );
      }
    }
  }

  private exchangeOf(id: unknown): Exchange | undefined {
    return typeof id === 'number' ? this.exchanges.get(id) : undefined;
  }

  private fail(reason: Error): void {
    if (this.closeReason !== null) return;
    this.closeReason = reason;
    for (const exchange of [...this.exchanges.values()]) exchange.reject(reason);
    this.transport.destroy();
    this.settleClosed();
  }
}

const abortedError = (what: string, signal: AbortSignal | undefined): Error =>
  kernelError('OPERATION_ABORTED', `waiting for ${what} was cancelled`, {}, signal?.reason);

const invalidLine = (line: string | null): Error =>
  line === null
    ? qmpError('QMP_PROTOCOL_INVALID', `the monitor sent a line of more than ${MAX_LINE_BYTES} bytes`)
    : qmpError('QMP_PROTOCOL_INVALID', `the monitor sent a line that is not QMP: ${JSON.stringify(line.slice(0, 80))}`);
