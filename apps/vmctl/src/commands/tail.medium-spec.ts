import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { encodeControl, encodeData } from '@inquest/frame-protocol';
import { runCommandLine } from '../run-command-line';
import { CapturedOutput } from '../testing/captured-output';
import { GatewayDouble, sendProblem } from '../testing/gateway-double';
import { sampleMachine } from '../testing/samples';

const machine = sampleMachine();
const MACHINE = `/v1/machines/${machine.machineId}`;

describe('vmctl tail', () => {
  let gateway: GatewayDouble;

  beforeAll(async () => {
    gateway = await GatewayDouble.start();
  });
  afterAll(() => gateway.stop());
  beforeEach(() => {
    gateway.reset();
    gateway.on('GET', '/v1/machines/box', machine);
  });

  const vmctl = async (args: readonly string[], signal = new AbortController().signal) => {
    const [stdout, stderr] = [new CapturedOutput(), new CapturedOutput()];
    const host = { env: gateway.environment, stdin: Readable.from([]), stdout, stderr, signal };
    const status = await runCommandLine(['node', 'vmctl', ...args], host);
    return { status, stdout: stdout.text, stderr: stderr.text };
  };
  /** An answer: begins at `from`, holds `text`, ends at `to`; without an end where that is null. */
  const file = (from: number, text: string, to: number | null) => (_: unknown, response: ServerResponse) => {
    response.write(encodeControl({ type: 'ok', offset: from }));
    const bytes = encodeData('data-from-guest', Buffer.from(text));
    if (to === null) response.write(bytes, () => response.destroy());
    else response.end(Buffer.concat([bytes, encodeControl({ type: 'eof', offset: to })]));
  };
  const askedOffsets = (): (string | null)[] =>
    gateway.requests
      .filter(({ url }) => url.includes('/tail?'))
      .map(({ url }) => new URL(url, gateway.url).searchParams.get('fromOffset'));

  it('prints a file from an offset on, and says where to go on', async () => {
    gateway.on('GET', `${MACHINE}/tail`, file(4, 'two\n', 8));
    expect(await vmctl(['tail', '--from', '4', 'box', '/var/log/build'])).toEqual({
      status: 0,
      stdout: 'two\n',
      stderr: `vmctl: ended at offset 8; go on with: vmctl tail --from 8 ${machine.machineId} /var/log/build\n`,
    });
    expect(askedOffsets()).toEqual(['4']);
  });

  it('follows across broken connections and a service that restarts, without a gap, until the machine ends', async () => {
    gateway.on('GET', `${MACHINE}/tail`, file(0, 'one\n', null));
    gateway.on('GET', `${MACHINE}/tail`, (_, response) => sendProblem(response, 503, 'NODE_UNAVAILABLE', 'away'));
    gateway.on('GET', `${MACHINE}/tail`, file(4, 'two\n', 8));
    for (const state of ['ready', 'ready', 'ended'] as const) gateway.on('GET', MACHINE, sampleMachine({ state }));
    const answer = await vmctl(['tail', '--follow', 'box', '/var/log/build']);
    expect(answer).toMatchObject({ status: 0, stdout: 'one\ntwo\n', stderr: expect.stringContaining('offset 8') });
    expect(askedOffsets()).toEqual(['0', '4', '4']);
  });

  it('begins anew with a file that was written anew', async () => {
    gateway.on('GET', `${MACHINE}/tail`, file(0, 'old\n', 0));
    gateway.on('GET', `${MACHINE}/tail`, file(0, 'new\n', 4));
    for (const state of ['ready', 'ended'] as const) gateway.on('GET', MACHINE, sampleMachine({ state }));
    expect((await vmctl(['tail', '--follow', 'box', '/var/log/build'])).stdout).toBe('old\nnew\n');
  });

  it('says what the guest refuses', async () => {
    gateway.on('GET', `${MACHINE}/tail`, (_, response) => sendProblem(response, 404, 'PATH_NOT_FOUND', '/nope: none'));
    expect(await vmctl(['tail', 'box', '/nope'])).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('PATH_NOT_FOUND'),
    });
  });

  it('ends with Ctrl-C, and still says where to go on', async () => {
    const interruption = new AbortController();
    gateway.on('GET', `${MACHINE}/tail`, (_, response) => {
      response.write(encodeControl({ type: 'ok', offset: 7 }));
      setImmediate(() => interruption.abort());
    });
    const answer = await vmctl(['tail', '--follow', 'box', '/var/log/build'], interruption.signal);
    expect(answer).toMatchObject({ status: 130, stdout: '' });
    expect(answer.stderr).toContain('go on with');
  });

  it('refuses --json, and asks nobody', async () => {
    expect(await vmctl(['tail', '--json', 'box', '/x'])).toMatchObject({ status: 2, stdout: '' });
    expect(gateway.requests).toEqual([]);
  });
});

describe('vmctl show', () => {
  it('says how busy a ready machine is, and shows it all the same when that is not to be had', async () => {
    const gateway = await GatewayDouble.start();
    const metrics = {
      load1: 0.25,
      memoryTotalKib: 262_144,
      memoryAvailableKib: 131_072,
      diskTotalKib: 65_536,
      diskFreeKib: 32_768,
      processes: 31,
      execs: 1,
      cpuBusyTicks: 10,
      cpuTotalTicks: 1000,
    };
    gateway.on('GET', '/v1/machines/box', machine);
    gateway.on('GET', `${MACHINE}/metrics`, metrics);
    gateway.on('GET', `${MACHINE}/metrics`, (_, response) => sendProblem(response, 502, 'LINK_CLOSED', 'gone'));
    const show = async (...args: string[]) => {
      const stdout = new CapturedOutput();
      const host = { env: gateway.environment, stdin: Readable.from([]), stdout, stderr: new CapturedOutput() };
      const signal = new AbortController().signal;
      await runCommandLine(['node', 'vmctl', 'show', 'box', ...args], { ...host, signal });
      return stdout.text;
    };
    expect(await show()).toContain('load 0.25  memory 128 of 256 MiB free  disk 32 of 64 MiB free  31 processes\n');
    expect(JSON.parse(await show('--json'))).toMatchObject({ machineId: machine.machineId, metrics: null });
    await gateway.stop();
  });
});
