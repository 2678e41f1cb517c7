import { once } from 'node:events';
import { openCommand } from '@inquest/process';
import { eventually } from '@inquest/testing';
import { qemusOf } from './testing/host-processes';
import { PlatformUnderTest } from './testing/platform-under-test';

/** What a demonstration or the self-test prints with `--json`. */
interface Checks {
  readonly failed: number;
  readonly checks: readonly { readonly name: string; readonly status: string; readonly detail: string }[];
}

/** Classes that need no right of the host but to send signals. */
const SHOWN_BY_DEMONSTRATION = [
  'clean_poweroff',
  'forced_poweroff',
  'dirty_poweroff',
  'halted',
  'guest_reset',
  'panicked',
  'watchdog_fired',
  'hung',
  'agent_lost',
  'suspended',
  'still_running',
  'host_killed',
  'vmm_crashed',
  'host_error',
];

/** How a machine ends decides the exit status of the command that ended it. */
describe('vmctl run', () => {
  let platform: PlatformUnderTest;

  beforeAll(async () => {
    platform = await PlatformUnderTest.create('endings');
    await platform.upWithImage();
  }, 600_000);
  afterAll(() => platform.remove(), 120_000);

  describe('in a machine that lives', () => {
    beforeAll(() => platform.startMachine('box'));
    afterAll(() => platform.vmctl(['rm', 'box']));

    it.each([
      [0, 'true'],
      [7, 'exit 7'],
      [127, 'no-such-program'],
      [143, 'kill -TERM $$'],
    ])('gives the status of the command, %d for `%s`', async (status, command) => {
      expect(await platform.vmctl(['run', 'box', command])).toMatchObject({ exitCode: status, stdout: '' });
    });

    it('keeps the two outputs apart', async () => {
      const result = await platform.vmctl(['run', 'box', 'echo out; echo err >&2']);
      expect(result).toEqual({ exitCode: 0, stdout: 'out\n', stderr: 'err\n' });
    });

    it('passes a pipe on as standard input, to its end', async () => {
      const input = 'x'.repeat(300_000);
      expect(await platform.vmctl(['run', 'box', 'wc -c'], { input })).toMatchObject({
        exitCode: 0,
        stdout: '300000\n',
      });
    });

    it('does not wait for input that the command does not read', async () => {
      const [file, script] = platform.commandLine;
      const command = await openCommand(file, [script, 'run', 'box', 'echo done'], { env: platform.environment });
      command.stdout.resume();
      expect(await command.finished).toBe(0);
      command.stdin.end();
    });

    it('shows one JSON document when asked', async () => {
      const { exitCode, stdout } = await platform.vmctl(['run', '--json', 'box', 'echo out; exit 3']);
      expect(JSON.parse(stdout)).toMatchObject({
        exit: { code: 3 },
        stdout: { text: 'out\n' },
        exitStatus: 3,
        ending: null,
      });
      expect(exitCode).toBe(3);
    });

    it('kills the command in the guest when it is interrupted', async () => {
      const [file, script] = platform.commandLine;
      const args = [script, 'run', 'box', 'echo started; sleep 4321'];
      const command = await openCommand(file, args, { env: platform.environment, acceptExitCodes: [130] });
      await once(command.stdout, 'data');
      process.kill(command.pid, 'SIGINT');
      expect(await command.finished).toBe(130);
      await eventually(async () => (await platform.vmctl(['run', 'box', 'ps | grep "[s]leep 4321"'])).exitCode === 1);
    });
  });

  it.each([
    ['clean_poweroff', 0, 'poweroff', []],
    ['guest_reset', 84, 'reboot -f', []],
    ['guest_reset', 0, 'reboot -f', ['--expect', 'guest_reset']],
  ])('judges %s and exits with %d after `%s`', async (verdict, status, command, options) => {
    const machine = await platform.startMachine('ending');
    const { exitCode, stderr } = await platform.vmctl(['run', ...options, 'ending', command]);
    expect(stderr).toContain(`verdict: ${verdict} (`);
    expect(exitCode).toBe(status);
    expect(await platform.json('show', 'ending')).toMatchObject({
      machineId: machine,
      state: 'ended',
      verdict: { class: verdict },
    });
  });

  it('does not wait for ever for a machine that stands still and closes no connection', async () => {
    await platform.startMachine('halted');
    const { exitCode, stderr } = await platform.vmctl(['run', '--settle', '3', 'halted', 'halt -f']);
    expect(stderr).toContain('verdict: halted (');
    expect(exitCode).toBe(83);
    await platform.vmctl(['rm', 'halted']);
  });

  it('exits with 86 when the machine is killed from outside', async () => {
    const machine = await platform.startMachine('killed');
    const [file, script] = platform.commandLine;
    const command = await openCommand(file, [script, 'run', 'killed', 'echo started; sleep 4321'], {
      env: platform.environment,
      acceptExitCodes: [86],
    });
    await once(command.stdout, 'data');
    process.kill((await qemusOf(platform.home)).get(machine)?.pid ?? Number.NaN, 'SIGKILL');
    expect(await command.finished).toBe(86);
    expect(await platform.json('verdict', 'killed')).toMatchObject({
      machineId: machine,
      verdict: { class: 'host_killed' },
    });
  });

  it('finds the newest ended machine of a name, until a live one takes it', async () => {
    const ended = await platform.json<{ machineId: string }>('show', 'ending');
    expect(await platform.vmctl(['run', 'ending', 'true'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('MACHINE_STATE_WRONG'),
    });
    const machine = await platform.startMachine('ending');
    expect(machine).not.toBe(ended.machineId);
    expect(await platform.json('show', 'ending')).toMatchObject({ machineId: machine, state: 'ready' });
    await platform.vmctl(['rm', 'ending']);
  });

  describe('as a demonstration', () => {
    it('gives every ending of a real guest its verdict, and the same one again from the evidence alone', async () => {
      const { failed, checks } = await checksOf('demo', 'shutdown');
      expect(checks.filter(({ status }) => status === 'FAIL')).toEqual([]);
      expect(failed).toBe(0);
      const shown = checks.filter(({ status }) => status === 'PASS');
      expect([...new Set(shown.map(({ name }) => name.split(':', 1)[0]))]).toEqual(
        expect.arrayContaining(SHOWN_BY_DEMONSTRATION),
      );
      for (const { detail } of shown) expect(detail).toContain('Drawn again from the evidence: the same, bit for bit.');
    });

    it('destroys a guest, resets it, and finds guest and host as they were', async () => {
      const { failed, checks } = await checksOf('demo', 'destroy');
      expect(checks.filter(({ status }) => status === 'FAIL')).toEqual([]);
      expect(failed).toBe(0);
      expect(checks.filter(({ status }) => status === 'SKIP').map(({ name }) => name)).toEqual([
        'the destroyed disk does not boot again',
      ]);
    });

    it('tests itself, and says of what it skips what stays unproven', async () => {
      const { failed, checks } = await checksOf('selftest', '--driver', 'qemu');
      expect(checks.filter(({ status }) => status === 'FAIL')).toEqual([]);
      expect(failed).toBe(0);
      for (const { status, detail } of checks) if (status === 'SKIP') expect(detail).toContain('unproven: ');
      expect(await platform.vmctl(['selftest', '--driver', 'firecracker'])).toMatchObject({
        exitCode: 1,
        stdout: expect.stringContaining('FAIL  the driver is the expected one'),
        stderr: expect.stringContaining('CLI_CHECK_FAILED'),
      });
    });
  });

  const checksOf = (...args: readonly string[]): Promise<Checks> => platform.json<Checks>(...args);
});
