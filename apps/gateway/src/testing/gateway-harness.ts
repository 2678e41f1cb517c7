import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { CleanupStack, type Operation } from '@inquest/kernel';
import { EventBus, MessagingModule, RpcClient } from '@inquest/messaging';
import { startService, type RunningService } from '@inquest/service';
import { startNats, tempDir } from '@inquest/testing';
import { gateway } from '../gateway.definition';

export const TOKEN = 'operator-token';

/** What the gateway called: subject, and request as it goes over the wire. */
export interface SeenCall {
  readonly subject: string;
  readonly request: unknown;
  readonly node: string | null;
}

/** Answers a call in place of the service behind it; throws what that service would. */
export type Answering = (subject: string, request: unknown) => unknown;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** A real gateway on a real NATS. The services behind it are played by the test. */
export class GatewayHarness {
  readonly calls: SeenCall[] = [];
  /** Replies to calls; an empty object when it gives none. */
  answering: Answering = () => ({});
  bus!: EventBus;
  /** Events that the gateway took from the stream for its watchers. */
  takenEvents = 0;
  /** Streams of events that the gateway reads. */
  readingStreams = 0;
  /** Local ports of clients whose connections the gateway saw close. */
  readonly closedPorts = new Set<number>();
  private readonly cleanup = new CleanupStack();
  private running!: RunningService;

  static async start(): Promise<GatewayHarness> {
    const harness = new GatewayHarness();
    await harness.startAll().catch(async (e: unknown) => {
      await harness.stop();
      throw e;
    });
    return harness;
  }

  stop(): Promise<void> {
    return this.cleanup.run();
  }

  get url(): string {
    return this.running.url;
  }

  /** A request with the operator's token and, for an object, a JSON body. */
  async request(method: string, route: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(`${this.url}${route}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const content = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    const parsed = (isJson ? JSON.parse(content) : { text: content }) as Record<string, unknown>;
    return { status: response.status, headers: response.headers, body: parsed };
  }

  /** A request whose headers the caller decides, also those that `fetch` keeps for itself. */
  raw(route: string, headers: Record<string, string>): Promise<{ readonly status: number; readonly code: string }> {
    return new Promise((resolve, reject) => {
      const asked = httpRequest(`${this.url}${route}`, { headers: { authorization: `Bearer ${TOKEN}`, ...headers } });
      asked.once('error', reject).once('response', (response) => {
        text(response).then((body) => {
          resolve({ status: response.statusCode ?? 0, code: (JSON.parse(body) as { code: string }).code });
        }, reject);
      });
      asked.end();
    });
  }

  private async startAll(): Promise<void> {
    const directory = await tempDir('gateway');
    this.cleanup.defer('the home directory', () => directory.remove());
    const nats = await startNats();
    this.cleanup.defer('nats', () => nats.stop());
    await this.connect(nats.url);
    this.running = await startService(gateway, {
      INQUEST_HOME: directory.path,
      INQUEST_NATS_URL: nats.url,
      INQUEST_URL_SIGNING_KEY: 'k'.repeat(32),
      INQUEST_TOKEN_SHA256: createHash('sha256').update(TOKEN).digest('hex'),
      INQUEST_LOG_LEVEL: 'fatal',
    });
    this.cleanup.defer('gateway', () => this.running.stop());
    this.playServices(this.running.app.get(RpcClient, { strict: false }));
    this.observe(this.running.app.get(EventBus, { strict: false }));
    this.running.app.getHttpServer().on('connection', (socket: Socket) => {
      const { remotePort = 0 } = socket;
      socket.once('close', () => this.closedPorts.add(remotePort));
    });
  }

  private async connect(natsUrl: string): Promise<void> {
    @Module({ imports: [MessagingModule.forRoot({ serviceName: 'test', natsUrl, nodeId: 'test' })] })
    class ClientModule {}
    const client: INestApplicationContext = await NestFactory.createApplicationContext(ClientModule, { logger: false });
    this.cleanup.defer('the client', () => client.close());
    this.bus = client.get(EventBus);
  }

  private playServices(rpc: RpcClient): void {
    const reply = async (
      { subject }: Pick<Operation<object, object>, 'subject'>,
      request: object,
      node: string | null,
    ) => {
      this.calls.push({ subject, request: JSON.parse(JSON.stringify(request)) as unknown, node });
      return (await this.answering(subject, request)) ?? {};
    };
    jest.spyOn(rpc, 'call').mockImplementation((op, request, options) => reply(op, request, options?.node ?? null));
    jest.spyOn(rpc, 'gather').mockImplementation(async (op, request) => [await reply(op, request, null)] as never);
  }

  private observe(bus: EventBus): void {
    const subscribe = bus.subscribe.bind(bus);
    const observed = async function* (this: GatewayHarness, ...args: Parameters<typeof subscribe>) {
      this.readingStreams++;
      try {
        for await (const event of subscribe(...args)) {
          this.takenEvents++;
          yield event;
        }
      } finally {
        this.readingStreams--;
      }
    };
    jest.spyOn(bus, 'subscribe').mockImplementation(observed.bind(this));
  }
}
