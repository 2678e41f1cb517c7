import { IsInt } from 'class-validator';
import { Logger } from '@nestjs/common';
import { connect } from 'nats';
import { CleanupStack, event } from '@inquest/kernel';
import { eventually, startNats, type NatsFixture } from '@inquest/testing';
import { EventBus, type ReceivedEvent, type SubscribeOptions } from './event-bus';
import { EVENT_STREAM } from './event-stream';
import { NatsClient } from './nats-client';

class Counted {
  @IsInt() readonly value!: number;
}
const counted = event({ subject: 'inquest.v1.evt.probe.counted', body: Counted });

describe('EventBus on a real JetStream', () => {
  const cleanup = new CleanupStack();
  let nats: NatsFixture;
  let bus: EventBus;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    nats = await startNats();
    cleanup.defer('nats', () => nats.stop());
    const client = new NatsClient({ serviceName: 'probe', natsUrl: nats.url, nodeId: 'a' });
    cleanup.defer('client', () => client.onApplicationShutdown());
    bus = new EventBus(client);
    await client.onModuleInit();
    bus.onModuleInit();
  }, 60_000);

  afterAll(() => cleanup.run(), 60_000);

  const publish = (id: string, value: number, messageId = `${id}-${value}`): Promise<void> =>
    bus.publish(counted, [id], { value }, { messageId });

  /** The first `count` events of a watch. */
  async function watch(count: number, options: Omit<SubscribeOptions, 'signal'>): Promise<ReceivedEvent<Counted>[]> {
    const stop = new AbortController();
    const received: ReceivedEvent<Counted>[] = [];
    for await (const one of bus.subscribe(counted, { ...options, signal: stop.signal })) {
      received.push(one);
      if (received.length === count) stop.abort();
    }
    return received;
  }

  const values = (events: readonly ReceivedEvent<Counted>[]): number[] => events.map(({ body }) => body.value);

  it('gives a late watcher everything, in order, and then what comes', async () => {
    for (const value of [1, 2, 3]) await publish('late', value);
    const watching = watch(4, { ids: ['late'] });
    await publish('late', 4);
    expect(values(await watching)).toEqual([1, 2, 3, 4]);
  }, 30_000);

  it('continues a watch after the last event that was seen', async () => {
    for (const value of [1, 2, 3]) await publish('resume', value);
    const [first] = await watch(1, { ids: ['resume'] });
    const rest = await watch(2, { ids: ['resume'], fromSequence: (first?.sequence ?? 0) + 1 });
    expect(values(rest)).toEqual([2, 3]);
  }, 30_000);

  it('starts at a time', async () => {
    await publish('time', 1);
    const [first] = await watch(1, { ids: ['time'] });
    await publish('time', 2);
    const [second] = await watch(1, { ids: ['time'], sinceMs: (first?.timeMs ?? 0) + 1 });
    expect(second?.body.value).toBe(2);
  }, 30_000);

  it('stores a message id once', async () => {
    await publish('twice', 1, 'same');
    await publish('twice', 1, 'same');
    await publish('twice', 2, 'other');
    expect(values(await watch(2, { ids: ['twice'] }))).toEqual([1, 2]);
  }, 30_000);

  it('shows a watcher only the ids it asked for', async () => {
    await publish('mine', 1);
    await publish('theirs', 2);
    await publish('mine', 3);
    expect(values(await watch(2, { ids: ['mine'] }))).toEqual([1, 3]);
  }, 30_000);

  it('leaves out an event whose body breaks the contract', async () => {
    const raw = await connect({ servers: nats.url });
    await raw.jetstream().publish(`${counted.subject}.broken`, 'not json');
    await raw.jetstream().publish(`${counted.subject}.broken`, '{"value":"many"}');
    await raw.close();
    await publish('broken', 3);
    expect(values(await watch(1, { ids: ['broken'] }))).toEqual([3]);
  }, 30_000);

  it('ends at once when the signal aborts, also while it waits for events', async () => {
    const stop = new AbortController();
    const iterator = bus.subscribe(counted, { ids: ['none'], signal: stop.signal });
    const next = iterator.next();
    stop.abort();
    await expect(next).resolves.toEqual({ done: true, value: undefined });
  }, 30_000);

  it('loses nothing and repeats nothing over a restart of nats-server', async () => {
    const watching = watch(6, { ids: ['restart'] });
    for (const value of [1, 2, 3]) await publish('restart', value);
    await nats.restart();
    for (const value of [4, 5, 6]) await eventually(() => publish('restart', value), { timeoutMs: 60_000 });
    expect(values(await watching)).toEqual([1, 2, 3, 4, 5, 6]);
  }, 90_000);

  it('makes the stream again when it is gone, and watches from its new beginning', async () => {
    const raw = await connect({ servers: nats.url });
    await (await raw.jetstreamManager()).streams.delete(EVENT_STREAM);
    await raw.close();
    await publish('again', 1);
    expect(values(await watch(1, { ids: ['again'], fromSequence: 1_000_000 }))).toEqual([1]);
  }, 30_000);
});
