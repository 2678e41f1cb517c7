import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { dto } from '@inquest/contracts-base';
import { EvidenceRequest, vmOps, type MachineView, type StartMachineRequest } from '@inquest/contracts-vm';
import { EGRESS_PORT, LOCAL_MODEL_PORT, type EgressRecord } from '@inquest/egress-proxy';
import { FakeNetwork } from '@inquest/egress-proxy/testing';
import { clientHelloBytes } from '@inquest/egress-policy/testing';
import type { GuestLink } from '@inquest/guest-link';
import { createMemoryLinkPair, FakeGuestAgent, type FakeGuest } from '@inquest/guest-link/testing';
import { eventually } from '@inquest/testing';
import type { VmSpec } from '@inquest/vm-driver';
import { TOKEN, VmServiceHarness } from '../testing/vm-service-harness';

const ADDRESS = '93.184.215.14';

/** A guest of which the test has both ends of the link. */
interface Guest {
  readonly agent: FakeGuestAgent;
  readonly link: GuestLink;
}

describe('the ways out of a machine', () => {
  let vm: VmServiceHarness;
  let model: Server;
  let network: FakeNetwork;
  const guests = new Map<string, Guest>();

  beforeAll(async () => {
    model = createServer((socket) => void socket.end('the model')).listen(0, '127.0.0.1');
    await once(model, 'listening');
    const { port } = model.address() as AddressInfo;
    vm = await VmServiceHarness.start({ INQUEST_LOCAL_MODEL_URL: `http://127.0.0.1:${port}/` });
    await vm.stopVmService();
    network = new FakeNetwork({
      names: { 'allowed.example': [ADDRESS], 'private.example': ['10.0.0.7'] },
      servers: { [ADDRESS]: (stream) => void stream.pipe(stream) },
    });
    vm.network = network;
    await vm.startVmService();
    vm.driver.makeGuest = makeGuest;
  });
  afterAll(async () => {
    await vm.stop();
    await network.close();
    model.close();
  });

  async function makeGuest({ machineId, listeners }: VmSpec): Promise<FakeGuest> {
    const { host, guest, sever } = createMemoryLinkPair();
    const agent = new FakeGuestAgent();
    agent.isEgressUp = listeners.some(({ port }) => port === EGRESS_PORT);
    await agent.serve(guest);
    guests.set(machineId, { agent, link: guest });
    return { link: host, agent, sever };
  }

  const boot = (more: Partial<StartMachineRequest>): Promise<MachineView> => vm.boot(more);
  const soon = (): AbortSignal => AbortSignal.timeout(30_000);
  const guestOf = ({ machineId }: MachineView): Guest => guests.get(machineId) as Guest;
  const connect = (machine: MachineView, port: number): Promise<Duplex> => guestOf(machine).link.connect(port, soon());

  async function askProxy(machine: MachineView, authority: string): Promise<Duplex> {
    const stream = await connect(machine, EGRESS_PORT);
    stream.write(`CONNECT ${authority} HTTP/1.1\r\n\r\n`);
    return stream;
  }

  async function recordsOf(machine: MachineView, incarnation = 1): Promise<EgressRecord[]> {
    const file = await readFile(vm.evidenceFile(machine.machineId, 'egress.jsonl', incarnation), 'utf8');
    const lines = file.split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as EgressRecord);
  }

  async function metric(line: RegExp): Promise<number> {
    const answer = await fetch(`${vm.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
    return Number(line.exec(await answer.text())?.[1] ?? 0);
  }

  it('are none unless some are asked for', async () => {
    const machine = await boot({});
    expect(machine.egress).toEqual({ isUp: false, allowedHosts: [], hasLocalModel: false });
    await expect(connect(machine, EGRESS_PORT)).rejects.toMatchObject({ code: 'LINK_PORT_REFUSED' });
    await expect(connect(machine, LOCAL_MODEL_PORT)).rejects.toMatchObject({ code: 'LINK_PORT_REFUSED' });
  });

  it('are known to the kernel and the driver before the guest runs, and shown once both ends are up', async () => {
    const specs: VmSpec[] = [];
    vm.driver.duringStart = (spec) => Promise.resolve(void specs.push(spec));
    const machine = await boot({ allowedHosts: ['Allowed.example', '*.wild.example'], localModel: true });
    vm.driver.duringStart = () => Promise.resolve();
    expect(machine.egress).toEqual({
      isUp: true,
      allowedHosts: ['allowed.example', '*.wild.example'],
      hasLocalModel: true,
    });
    expect(specs[0]?.listeners.map(({ port }) => port)).toEqual([EGRESS_PORT, LOCAL_MODEL_PORT]);
    expect(specs[0]?.boot.commandLine).toEqual(expect.arrayContaining(['inquest.egress=1', 'inquest.local_model=1']));
  });

  it('are not up when the guest agent says that its end is not', async () => {
    vm.driver.makeGuest = async (spec) => {
      const guest = await makeGuest(spec);
      guest.agent.isEgressUp = false;
      return guest;
    };
    const machine = await boot({ allowedHosts: ['allowed.example'] });
    vm.driver.makeGuest = makeGuest;
    expect(machine).toMatchObject({ state: 'ready', egress: { isUp: false, allowedHosts: ['allowed.example'] } });
  });

  it('let a guest through to an allowed host, and say what passed in evidence and metrics', async () => {
    const machine = await boot({ allowedHosts: ['allowed.example'] });
    const hello = clientHelloBytes({ serverNames: ['allowed.example'] });
    const before = await metric(/^inquest_egress_bytes_total{.*direction="up".*} (\d+)$/m);
    const stream = await askProxy(machine, 'allowed.example:443');
    stream.end(hello);
    expect((await buffer(stream)).subarray(-hello.length)).toEqual(hello);
    await eventually(async () => expect(await recordsOf(machine)).toHaveLength(2));
    const sent = { verdict: 'allowed', host: 'allowed.example', port: 443, address: ADDRESS };
    expect(await recordsOf(machine)).toMatchObject([
      { ...sent, isClosed: false },
      { ...sent, isClosed: true, bytesUp: hello.length, bytesDown: hello.length },
    ]);
    const after = await metric(/^inquest_egress_bytes_total{.*direction="up".*} (\d+)$/m);
    expect(after - before).toBe(hello.length);
  });

  it('refuse a denied host without a lookup, on record, with the answer of the proxy', async () => {
    const machine = await boot({ allowedHosts: ['allowed.example'] });
    const lookups = network.lookups.length;
    const answer = await text(await askProxy(machine, 'denied.example:443'));
    expect(answer).toContain('403 Forbidden');
    expect(answer).toContain('"EGRESS_HOST_DENIED"');
    expect(network.lookups).toHaveLength(lookups);
    await eventually(async () => expect(await recordsOf(machine)).toHaveLength(1));
    const request = dto(EvidenceRequest, { machineId: machine.machineId, file: 'egress.jsonl' });
    const { text: evidence } = await vm.call(vmOps.evidence, request);
    expect(JSON.parse(evidence)).toMatchObject({
      verdict: 'refused',
      code: 'EGRESS_HOST_DENIED',
      host: 'denied.example',
    });
    expect(await metric(/^inquest_egress_connections_total{.*code="EGRESS_HOST_DENIED".*} (\d+)$/m)).toBe(1);
  });

  it('carry a guest that asked for it to the local model', async () => {
    const machine = await boot({ localModel: true });
    expect(machine.egress).toEqual({ isUp: false, allowedHosts: [], hasLocalModel: true });
    await expect(text(await connect(machine, LOCAL_MODEL_PORT))).resolves.toBe('the model');
    await expect(connect(machine, EGRESS_PORT)).rejects.toMatchObject({ code: 'LINK_PORT_REFUSED' });
  });

  it('end with the incarnation, and the next one has its own', async () => {
    const machine = await boot({ allowedHosts: ['allowed.example'] });
    const stream = await askProxy(machine, 'allowed.example:443');
    stream.on('error', () => undefined).write(clientHelloBytes({ serverNames: ['allowed.example'] }));
    await once(stream, 'readable');
    const closed = new Promise((resolve) => stream.resume().once('close', resolve));
    await vm.reset(machine.machineId);
    await closed;
    const fresh = await vm.waitFor(machine.machineId, 'ready', 'ended');
    expect(fresh).toMatchObject({ incarnation: 2, state: 'ready', egress: machine.egress });
    expect((await recordsOf(machine)).at(-1)).toMatchObject({ verdict: 'allowed', isClosed: true });
    await text(await askProxy(fresh, 'denied.example:443'));
    await eventually(async () => expect(await recordsOf(fresh, 2)).toHaveLength(1));
    await vm.destroy(machine.machineId);
  });

  it.each([
    ['an address', { allowedHosts: ['10.0.0.1'] }, 'EGRESS_ENTRY_INVALID'],
    ['a whole top-level domain', { allowedHosts: ['*.com'] }, 'EGRESS_ENTRY_INVALID'],
    ['a URL', { allowedHosts: ['https://allowed.example'] }, 'INPUT_INVALID'],
  ])('are refused before there is a machine: %s', async (_, wish, code) => {
    const started = vm.driver.machines.length;
    await expect(vm.start({ name: 'refused', ...wish })).rejects.toMatchObject({ code });
    await expect(vm.call(vmOps.find, { machineId: 'refused' })).resolves.toEqual({ items: [] });
    expect(vm.driver.machines).toHaveLength(started);
  });
});
