import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { dto } from '@inquest/contracts-base';
import {
  DestroyMachineRequest,
  ExecRequest,
  ListMachinesRequest,
  StartMachineRequest,
  vmError,
  type MachineView,
} from '@inquest/contracts-vm';
import { CleanupStack, newId } from '@inquest/kernel';
import { MessagingModule } from '@inquest/messaging';
import { eventually, startNats } from '@inquest/testing';
import { FakeVmService } from './testing';
import { VmClient } from './vm-client';

describe('VmClient with two nodes on a real nats-server', () => {
  const cleanup = new CleanupStack();
  let client: VmClient;
  let natsUrl: string;
  let small: FakeVmService;
  let large: FakeVmService;

  beforeAll(async () => {
    const nats = await startNats();
    cleanup.defer('nats', () => nats.stop());
    natsUrl = nats.url;
    small = await startNode('small', 512);
    large = await startNode('large', 4096);
    const app = await startClient();
    cleanup.defer('the client', () => app.close());
    client = app.get(VmClient);
  }, 60_000);

  afterAll(() => cleanup.run(), 60_000);

  async function startNode(nodeId: string, memoryAvailableMib: number): Promise<FakeVmService> {
    const node = await FakeVmService.start({ natsUrl, nodeId, memoryAvailableMib });
    cleanup.defer(`node ${nodeId}`, () => node.stop());
    return node;
  }

  async function startClient(): Promise<INestApplicationContext> {
    @Module({
      imports: [MessagingModule.forRoot({ serviceName: 'test', natsUrl, nodeId: 'test' })],
      providers: [VmClient],
    })
    class ClientModule {}
    return NestFactory.createApplicationContext(ClientModule, { logger: false, abortOnError: false });
  }

  const start = (more: Partial<StartMachineRequest> = {}): Promise<MachineView> =>
    client.start(dto(StartMachineRequest, { image: 'tiny', ...more }));

  it('starts on the node with the most memory, and sends verbs to the node in the id', async () => {
    const { machineId, node } = await start();
    expect({ node, prefix: machineId.slice(0, 6) }).toEqual({ node: 'large', prefix: 'large-' });
    large.becomeReady(large.newest);
    large.onExec = ({ command }) => ({ stdout: `did ${command}` });
    const result = await client.exec(dto(ExecRequest, { machineId, command: 'uname' }));
    expect(result.stdout.text).toBe('did uname');
    expect(small.calls).not.toContain('start');
    expect(small.calls).not.toContain('exec');
  });

  it('starts nowhere when no node has the memory, and says what each has left', async () => {
    const before = large.machines.size;
    await expect(start({ memoryMib: 10_000 })).rejects.toMatchObject({
      code: 'NODE_EXHAUSTED',
      message: expect.stringMatching(/small: 512 MiB/),
    });
    expect(large.machines.size + small.machines.size).toBe(before);
  });

  it('finds a machine by its id, and by the name of a live one', async () => {
    const { machineId } = await start({ name: 'box' });
    await expect(client.find(machineId)).resolves.toMatchObject({ machineId });
    await expect(client.find('box')).resolves.toMatchObject({ machineId, name: 'box' });
    await client.destroy(dto(DestroyMachineRequest, { machineId }));
    await expect(client.find(machineId)).resolves.toMatchObject({ state: 'ended' });
    await expect(client.find('box')).rejects.toMatchObject({ code: 'MACHINE_UNKNOWN', status: 404 });
  });

  it('finds a machine whose name looks like an id of a node that there is not', async () => {
    const name = newId<string>('desk');
    const { machineId } = await start({ name });
    await expect(client.find(name)).resolves.toMatchObject({ machineId });
  });

  describe('on', () => {
    const uname = (idOrName: string): Promise<string> =>
      client.on(idOrName, async (machineId) => {
        const { stdout } = await client.exec(dto(ExecRequest, { machineId, command: 'uname' }));
        return stdout.text;
      });
    beforeEach(() => {
      large.onExec = () => ({ stdout: 'Linux' });
    });

    it('sends a verb to the node that an id names, and asks nothing before', async () => {
      const { machineId } = await start();
      large.becomeReady(large.newest);
      const before = large.calls.length;
      await expect(uname(machineId)).resolves.toBe('Linux');
      expect(large.calls.slice(before)).toEqual(['exec']);
    });

    it.each(['box-by-name', newId<string>('desk')])('finds the machine that is called %s first', async (name) => {
      await start({ name });
      large.becomeReady(large.newest);
      await expect(uname(name)).resolves.toBe('Linux');
    });

    it('does a verb that fails once', async () => {
      const { machineId } = await start();
      large.becomeReady(large.newest);
      let times = 0;
      const verb = client.on(machineId, () => {
        times++;
        return Promise.reject(vmError('MACHINE_LOST', 'it is gone', { machine: machineId }));
      });
      await expect(verb).rejects.toMatchObject({ code: 'MACHINE_LOST' });
      expect(times).toBe(1);
    });

    it('knows no machine of an id that nobody has', async () => {
      await expect(uname(newId<string>('large'))).rejects.toMatchObject({ code: 'MACHINE_UNKNOWN' });
    });
  });

  it.each(['nobody', 'test-background', newId<string>('large')])('knows no machine %s', async (name) => {
    await expect(client.find(name)).rejects.toMatchObject({ code: 'MACHINE_UNKNOWN', details: { machine: name } });
  });

  it.each(['../etc', 'a b', ''])('refuses the name %j before it asks anybody', async (name) => {
    const before = [...small.calls, ...large.calls].length;
    await expect(client.find(name)).rejects.toMatchObject({ code: 'ID_INVALID' });
    expect([...small.calls, ...large.calls]).toHaveLength(before);
  });

  it('finds the live machine of an owner, and none once it has ended', async () => {
    const owner = newId<string>('ses');
    const { machineId } = await start({ owner });
    await expect(client.findOwned(owner)).resolves.toMatchObject({ machineId });
    await client.destroy(dto(DestroyMachineRequest, { machineId }));
    await expect(client.findOwned(owner)).resolves.toBeNull();
  });

  it('lists the machines of all nodes, newest first, and no more than were asked for', async () => {
    const onSmall = small.begin(dto(StartMachineRequest, { image: 'tiny' })).view;
    const all = await client.list(dto(ListMachinesRequest, { includeEnded: true }));
    expect(all.map(({ machineId }) => machineId)).toContain(onSmall.machineId);
    expect(new Set(all.map(({ node }) => node))).toEqual(new Set(['small', 'large']));
    const times = all.map(({ createdAtMs }) => createdAtMs);
    expect(times).toEqual([...times].sort((a, b) => b - a));
    await expect(client.list(dto(ListMachinesRequest, { includeEnded: true, limit: 2 }))).resolves.toHaveLength(2);
  });

  it('passes on what a node answers, with code, fault and details', async () => {
    large.failNext('start', vmError('MACHINE_NAME_TAKEN', 'another machine is called box', { name: 'box' }));
    await expect(start({ name: 'box' })).rejects.toMatchObject({
      code: 'MACHINE_NAME_TAKEN',
      status: 409,
      details: { name: 'box' },
    });
  });

  it('stops waiting when the caller does, and has the command killed', async () => {
    const { machineId } = await start();
    large.becomeReady(large.newest);
    const began = new Promise<void>((resolve) => {
      large.onExec = () => {
        resolve();
        return new Promise(() => undefined);
      };
    });
    const cancel = new AbortController();
    const call = client.exec(dto(ExecRequest, { machineId, command: 'sleep 600' }), { signal: cancel.signal });
    await began;
    cancel.abort();
    await expect(call).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    await eventually(() => large.calls.includes('cancelExec'));
    await client.destroy(dto(DestroyMachineRequest, { machineId }));
  });

  it('tells a node that does not answer from a machine that is unknown', async () => {
    const { machineId } = small.begin(dto(StartMachineRequest, { image: 'tiny' })).view;
    await small.stop();
    const gone = { code: 'NODE_UNAVAILABLE', fault: 'infra', details: { node: 'small' } };
    await expect(client.show(machineId)).rejects.toMatchObject(gone);
    await expect(client.find(machineId)).rejects.toMatchObject(gone);
    await expect(start()).resolves.toMatchObject({ node: 'large' });
    await large.stop();
    await expect(start()).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' });
    await expect(client.list(dto(ListMachinesRequest, {}))).resolves.toEqual([]);
  });
});
