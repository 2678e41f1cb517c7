import { Controller, Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, NatsContext, Payload } from '@nestjs/microservices';
import { IsInt, IsString, Max, MaxLength } from 'class-validator';
import { connect, type NatsConnection } from 'nats';
import { CleanupStack, defineErrors, operation } from '@inquest/kernel';
import { currentTraceId, runWithTrace } from '@inquest/logging';
import { eventually, startNats, type NatsFixture } from '@inquest/testing';
import { MessagingModule, natsMicroserviceOptions } from './messaging.module';
import { RpcClient } from './rpc-client';
import { RpcHandler } from './rpc-handler';

class DoubleRequest {
  @IsInt() @Max(1_000_000) readonly value!: number;
  @IsString() @MaxLength(10) readonly unit: string = 'none';
}
class DoubleReply {
  @IsInt() readonly value!: number;
  @IsString() readonly unit!: string;
  @IsString() readonly trace!: string;
}
class SizeRequest {
  @IsInt() readonly sizeBytes!: number;
}
class TextReply {
  @IsString() readonly text!: string;
}
class Nothing {}

const probeError = defineErrors({
  PROBE_DISK_FULL: { fault: 'guest', status: 507, when: 'The disk is full.', remediation: 'Free space.' },
});

const SUBJECT = 'inquest.v1.cmd.probe';
const ops = {
  double: operation({ subject: `${SUBJECT}.double`, request: DoubleRequest, response: DoubleReply, timeoutMs: 20_000 }),
  text: operation({ subject: `${SUBJECT}.text`, request: SizeRequest, response: TextReply, timeoutMs: 20_000 }),
  fail: operation({ subject: `${SUBJECT}.fail`, request: SizeRequest, response: TextReply, timeoutMs: 20_000 }),
  hang: operation({ subject: `${SUBJECT}.hang`, request: Nothing, response: Nothing, timeoutMs: 20_000 }),
  linger: operation({
    subject: `${SUBJECT}.linger`,
    perNode: true,
    request: Nothing,
    response: Nothing,
    timeoutMs: 20_000,
  }),
  lie: operation({ subject: `${SUBJECT}.lie`, request: Nothing, response: TextReply, timeoutMs: 20_000 }),
  nobody: operation({ subject: `${SUBJECT}.nobody`, request: Nothing, response: Nothing, timeoutMs: 20_000 }),
  where: operation({
    subject: `${SUBJECT}.where`,
    perNode: true,
    request: Nothing,
    response: TextReply,
    timeoutMs: 20_000,
  }),
  who: operation({ subject: `${SUBJECT}.who`, request: Nothing, response: TextReply, timeoutMs: 20_000 }),
} as const;

/** Handlers of one node; `calls` shows what reached them. */
function probeController(nodeId: string, calls: string[]) {
  @Controller()
  class ProbeController {
    @RpcHandler(ops.double)
    double(@Payload() request: DoubleRequest, @Ctx() context: NatsContext): DoubleReply {
      calls.push(`double on ${context.getSubject()} as ${request.constructor.name}`);
      return { value: request.value * 2, unit: request.unit, trace: currentTraceId() ?? '' };
    }

    @RpcHandler(ops.text)
    text({ sizeBytes }: SizeRequest): TextReply {
      calls.push('text');
      return { text: 'x'.repeat(sizeBytes) };
    }

    @RpcHandler(ops.fail)
    fail({ sizeBytes }: SizeRequest): Promise<TextReply> {
      if (sizeBytes === 0) throw new Error('password=hunter2');
      return Promise.reject(probeError('PROBE_DISK_FULL', 'no room for the reply', { sizeBytes }));
    }

    @RpcHandler(ops.hang)
    hang(): Promise<Nothing> {
      calls.push('hang');
      return new Promise(() => undefined);
    }

    @RpcHandler(ops.linger)
    linger(): Promise<Nothing> {
      calls.push('linger');
      return new Promise(() => undefined);
    }

    @RpcHandler(ops.lie)
    lie(): unknown {
      return { text: 7n };
    }

    @RpcHandler(ops.where)
    where(): TextReply {
      return { text: nodeId };
    }

    @RpcHandler(ops.who, { everyNode: true })
    who(): TextReply | null {
      return nodeId === 'silent' ? null : { text: nodeId };
    }
  }
  return ProbeController;
}

describe('RPC over a real nats-server', () => {
  const cleanup = new CleanupStack();
  const calls: string[] = [];
  let nats: NatsFixture;
  let client: RpcClient;
  let raw: NatsConnection;

  /** An application of the service "probe" on one node. */
  async function startNode(nodeId: string, drainMs = 200): Promise<INestApplicationContext> {
    @Module({
      imports: [MessagingModule.forRoot({ serviceName: 'probe', natsUrl: nats.url, nodeId, drainMs })],
      controllers: [probeController(nodeId, calls)],
    })
    class NodeModule {}
    const app = await NestFactory.create(NodeModule, { logger: false, abortOnError: false });
    app.connectMicroservice<object>(natsMicroserviceOptions(app));
    await app.init();
    await app.startAllMicroservices();
    return app;
  }

  beforeAll(async () => {
    nats = await startNats();
    cleanup.defer('nats', () => nats.stop());
    const app = await startNode('a');
    cleanup.defer('node a', () => app.close());
    client = app.get(RpcClient);
    raw = await connect({ servers: nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 100 });
    cleanup.defer('raw connection', () => raw.close());
  }, 60_000);

  afterAll(() => cleanup.run(), 60_000);

  beforeEach(() => void calls.splice(0));

  /** The service answers, so nothing that was done to it before ended it. */
  const expectAlive = async (): Promise<void> => {
    await expect(client.call(ops.double, { value: 1, unit: 'x' })).resolves.toMatchObject({ value: 2 });
  };

  it('answers with an instance of the response class, under the trace id of the caller', async () => {
    const reply = await runWithTrace('trace-7', () => client.call(ops.double, { value: 21, unit: 'kg' }));
    expect(reply).toBeInstanceOf(DoubleReply);
    expect(reply).toEqual({ value: 42, unit: 'kg', trace: 'trace-7' });
    expect(calls).toEqual(['double on inquest.v1.cmd.probe.double as DoubleRequest']);
  });

  it('carries code, fault, status and details of an error to the caller', async () => {
    await expect(client.call(ops.fail, { sizeBytes: 9 })).rejects.toMatchObject({
      code: 'PROBE_DISK_FULL',
      fault: 'guest',
      status: 507,
      remediation: 'Free space.',
      details: { sizeBytes: 9 },
    });
  });

  it('masks an unexpected error', async () => {
    const error: unknown = await client.call(ops.fail, { sizeBytes: 0 }).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'INTERNAL', fault: 'infra' });
    expect(JSON.stringify(error)).not.toContain('hunter2');
  });

  it('refuses a request that breaks the contract, naming every property, before the handler runs', async () => {
    const wrong = { value: 'many', unit: 'x'.repeat(11), surplus: true } as unknown as DoubleRequest;
    const error: unknown = await client.call(ops.double, wrong).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'INPUT_INVALID', fault: 'caller', status: 400 });
    expect((error as Error).message).toMatch(/surplus.*value.*unit|value.*unit.*surplus/);
    expect(calls).toEqual([]);
  });

  it('says at once that nobody answers', async () => {
    await expect(client.call(ops.nobody, {})).rejects.toMatchObject({ code: 'RPC_NO_RESPONDER', status: 503 });
  });

  it('gives up after the timeout', async () => {
    await expect(client.call(ops.hang, {}, { timeoutMs: 50 })).rejects.toMatchObject({
      code: 'RPC_TIMEOUT',
      status: 504,
    });
    expect(calls).toEqual(['hang']);
  });

  it('stops waiting when the signal aborts', async () => {
    const controller = new AbortController();
    const call = client.call(ops.hang, {}, { signal: controller.signal });
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
  });

  it('answers RPC_REPLY_OVERSIZED in place of a reply over 1 MiB, and lives on', async () => {
    await expect(client.call(ops.text, { sizeBytes: 2 * 1024 * 1024 })).rejects.toMatchObject({
      code: 'RPC_REPLY_OVERSIZED',
    });
    await expectAlive();
  });

  it('answers INTERNAL in place of a reply that is no JSON, and lives on', async () => {
    await expect(client.call(ops.lie, {})).rejects.toMatchObject({ code: 'INTERNAL' });
    await expectAlive();
  });

  it('does not send a request over 1 MiB', async () => {
    const request = { value: 1, unit: 'x'.repeat(1024 * 1024) };
    await expect(client.call(ops.double, request)).rejects.toMatchObject({
      code: 'RPC_REQUEST_OVERSIZED',
      fault: 'caller',
    });
    expect(calls).toEqual([]);
  });

  it('does not trust a reply that breaks the contract', async () => {
    const subscription = raw.subscribe(ops.nobody.subject, {
      callback: (_error, message) => void message.respond(Buffer.from('not json')),
    });
    await raw.flush();
    await expect(client.call(ops.nobody, {})).rejects.toMatchObject({ code: 'RPC_REPLY_INVALID' });
    subscription.unsubscribe();
    await raw.flush();
  });

  it.each([
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00])],
    ['text that is no JSON', Buffer.from('{"pattern":')],
    ['an empty message', Buffer.alloc(0)],
    ['a JSON list', Buffer.from('[1,2]')],
    ['JSON null', Buffer.from('null')],
    ['a deep nest', Buffer.from(`{"id":"1","data":${'['.repeat(200_000)}${']'.repeat(200_000)}}`)],
    ['a prototype in disguise', Buffer.from('{"id":"1","data":{"__proto__":{"value":1},"constructor":7}}')],
  ])('answers %s with INPUT_INVALID and lives on', async (_what, payload) => {
    const reply = await raw.request(ops.double.subject, payload, { timeout: 20_000 });
    expect(reply.json()).toMatchObject({ isDisposed: true, err: { code: 'INPUT_INVALID', fault: 'caller' } });
    expect(calls).toEqual([]);
    await expectAlive();
  });

  it('survives a message that asks for no reply', async () => {
    raw.publish(ops.double.subject, Buffer.from('garbage'));
    await raw.flush();
    await expectAlive();
  });

  it('refuses to call an operation of one node without the node', async () => {
    await expect(client.call(ops.where, {})).rejects.toMatchObject({ code: 'RPC_NODE_MISSING' });
  });

  it('routes calls to their node, gathers from all, and shares the rest', async () => {
    const local = new CleanupStack();
    try {
      for (const nodeId of ['b', 'silent']) {
        const app = await startNode(nodeId);
        local.defer(nodeId, () => app.close());
      }
      await expect(client.call(ops.where, {}, { node: 'b' })).resolves.toEqual({ text: 'b' });
      await expect(client.call(ops.where, {}, { node: 'a' })).resolves.toEqual({ text: 'a' });
      await expect(client.call(ops.where, {}, { node: 'c' })).rejects.toMatchObject({ code: 'RPC_NO_RESPONDER' });

      const gathered = await client.gather(ops.who, {}, { windowMs: 20_000, expect: 2 });
      expect(gathered.map(({ text }) => text).sort()).toEqual(['a', 'b']);

      await client.call(ops.text, { sizeBytes: 1 });
      expect(calls).toEqual(['text']);
    } finally {
      await local.run();
    }
  }, 60_000);

  it('gathers nothing, at once, where nobody listens', async () => {
    await expect(client.gather(ops.nobody, {}, { windowMs: 60_000 })).resolves.toEqual([]);
  });

  it('answers requests that do not finish before it stops with RPC_SERVER_STOPPING', async () => {
    const app = await startNode('leaving');
    const call = client.call(ops.linger, {}, { node: 'leaving' });
    const refused = expect(call).rejects.toMatchObject({ code: 'RPC_SERVER_STOPPING', status: 503 });
    await eventually(() => calls.includes('linger'));
    await app.close();
    await refused;
    await expect(client.call(ops.linger, {}, { node: 'leaving' })).rejects.toMatchObject({ code: 'RPC_NO_RESPONDER' });
  });

  it('fails fast without nats-server, and answers again once it is back', async () => {
    await nats.kill();
    const call = () => client.call(ops.double, { value: 1, unit: 'x' }, { timeoutMs: 100 });
    await eventually(() => expect(call()).rejects.toMatchObject({ code: 'RPC_DISCONNECTED' }));
    await nats.restart();
    await eventually(expectAlive, { timeoutMs: 30_000 });
  }, 90_000);
});
