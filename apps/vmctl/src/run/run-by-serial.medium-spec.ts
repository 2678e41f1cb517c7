import { Readable } from 'node:stream';
import { runCommandLine } from '../run-command-line';
import { CapturedOutput } from '../testing/captured-output';
import { GatewayDouble, sendProblem } from '../testing/gateway-double';
import { sampleMachine, sampleReport } from '../testing/samples';

const MACHINE = `/v1/machines/${sampleMachine().machineId}`;

describe('run --via serial', () => {
  let gateway: GatewayDouble;

  beforeAll(async () => {
    gateway = await GatewayDouble.start();
  });
  beforeEach(() => {
    gateway.reset();
    gateway.on('GET', '/v1/machines/box', sampleMachine());
  });
  afterAll(() => gateway.stop());

  const vmctl = async (...args: readonly string[]) => {
    const [stdout, stderr] = [new CapturedOutput(), new CapturedOutput()];
    const host = { env: gateway.environment, stdin: Readable.from([]), stdout, stderr };
    const command = ['node', 'vmctl', 'run', '--via', 'serial', ...args];
    const status = await runCommandLine(command, { ...host, signal: new AbortController().signal });
    return { status, stdout: stdout.text, stderr: stderr.text };
  };
  const answer = (exitCode: number, text: string) =>
    gateway.on('POST', `${MACHINE}/exec-serial`, {
      exitCode,
      durationMs: 1,
      output: { text, totalBytes: text.length, droppedBytes: 0, isLossy: false },
    });

  it('gives the output and the status of the command, and says that its streams come mixed', async () => {
    answer(3, 'both\n');
    await expect(vmctl('box', 'echo', 'both;', 'exit', '3')).resolves.toEqual({
      status: 3,
      stdout: 'both\n',
      stderr: expect.stringContaining('mixed'),
    });
    const { body = '' } = gateway.requests[1] ?? {};
    expect(JSON.parse(body)).toEqual({ command: 'echo both; exit 3', incarnation: 1, timeoutMs: 60_000 });
    expect(gateway.requests).toHaveLength(2);
  });

  it('passes the time limit on, and is one document with --json', async () => {
    answer(0, 'x');
    const { status, stdout } = await vmctl('--json', '--timeout', '2.5', 'box', 'true');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ exit: { code: 0 }, stdout: { text: 'x' }, exitStatus: 0 });
    expect(JSON.parse(gateway.requests[1]?.body ?? '')).toMatchObject({ timeoutMs: 2500 });
  });

  it.each([
    ['--cwd', '/srv'],
    ['--user', 'agent'],
    ['--stdin', null],
  ])('refuses %s, which needs the agent, and asks for nothing', async (option, value) => {
    const args = value === null ? [option] : [option, value];
    await expect(vmctl(...args, 'box', 'true')).resolves.toMatchObject({ status: 2 });
    expect(gateway.requests).toEqual([]);
  });

  it('tells the error of a port on which nobody answers', async () => {
    gateway.on('POST', `${MACHINE}/exec-serial`, (_, response) =>
      sendProblem(response, 504, 'VM_SERIAL_SILENT', 'no shell answers'),
    );
    await expect(vmctl('box', 'true')).resolves.toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('[VM_SERIAL_SILENT]'),
    });
  });

  it('gives the status of the verdict when the machine ended with the command', async () => {
    gateway
      .on('POST', `${MACHINE}/exec-serial`, (_, response) => sendProblem(response, 410, 'MACHINE_LOST', 'it ended'))
      .on('GET', `${MACHINE}/wait`, sampleMachine({ state: 'ended' }))
      .on('GET', `${MACHINE}/verdict`, sampleReport({ class: 'panicked' }));
    await expect(vmctl('box', 'echo c > /proc/sysrq-trigger')).resolves.toMatchObject({ status: 85 });
  });
});
