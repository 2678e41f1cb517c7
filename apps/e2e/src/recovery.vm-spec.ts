import { once } from 'node:events';
import { openCommand } from '@inquest/process';
import { eventually } from '@inquest/testing';
import { qemusOf } from './testing/host-processes';
import { PlatformUnderTest } from './testing/platform-under-test';

interface MachineList {
  readonly items: readonly { readonly machineId: string; readonly state: string }[];
}

/** The promise: ten seconds after the services run again, no QEMU is without an owner. */
const UNOWNED_GONE_MS = 10_000;

/** kill -9 of any service, at a moment when it has work. */
describe('after kill -9', () => {
  let platform: PlatformUnderTest;

  beforeAll(async () => {
    platform = await PlatformUnderTest.create('recovery');
    await platform.upWithImage();
  }, 600_000);
  afterAll(() => platform.remove(), 120_000);

  /** Every running QEMU belongs to a machine that the platform calls live. */
  async function expectNoUnownedMachine(): Promise<void> {
    await eventually(
      async () => {
        const { items } = await platform.json<MachineList>('ls');
        const live = items.filter(({ state }) => state !== 'ended').map(({ machineId }) => machineId);
        const running = [...(await qemusOf(platform.home)).keys()];
        return running.every((machine) => live.includes(machine));
      },
      { timeoutMs: UNOWNED_GONE_MS },
    );
  }

  const openSession = async (): Promise<{ sessionId: string; machineId: string }> => {
    const { sessionId } = await platform.json<{ sessionId: string }>('open', 'recovery');
    return platform.json<{ sessionId: string; machineId: string }>('ready', sessionId);
  };

  describe('of a service that holds no machine', () => {
    let session: { sessionId: string; machineId: string };
    beforeAll(async () => {
      session = await openSession();
    });
    afterAll(() => platform.vmctl(['close', session.sessionId]));

    it.each([
      'gateway',
      'image-service',
      'publish-service',
      'agent-service',
      'nats-server',
      'postgres',
      'scripted-model',
    ])('of %s the machine of an open session lives on and obeys', async (service) => {
      await platform.killService(service);
      await expectNoUnownedMachine();
      expect([...(await qemusOf(platform.home)).keys()]).toEqual([session.machineId]);
      const answer = await eventually(async () =>
        platform.json<{ outcome: string }>('plan', session.sessionId, 'Go on.'),
      );
      expect(answer).toMatchObject({ outcome: 'ok' });
      expect(await platform.vmctl(['run', session.machineId, 'echo alive'])).toMatchObject({
        exitCode: 0,
        stdout: 'alive\n',
      });
    });

    it('the session closes in order, with a clean verdict', async () => {
      expect(await platform.json('close', session.sessionId)).toMatchObject({
        state: 'closed',
        verdict: { class: 'clean_poweroff' },
      });
    });
  });

  it('of vm-service its machines live on, obey the next one, and end with a verdict from unbroken evidence', async () => {
    const session = await openSession();
    const before = (await qemusOf(platform.home)).get(session.machineId)?.pid;
    // The second life takes over what the first one has taken over.
    for (const word of ['once', 'twice']) {
      await platform.killService('vm-service');
      await expectNoUnownedMachine();
      expect((await qemusOf(platform.home)).get(session.machineId)?.pid).toBe(before);
      expect(await platform.vmctl(['run', session.machineId, `echo ${word}`])).toMatchObject({
        exitCode: 0,
        stdout: `${word}\n`,
      });
    }
    expect(await platform.json('verdict', session.machineId)).toMatchObject({
      isProvisional: true,
      verdict: { class: 'still_running' },
    });
    expect(await platform.json('close', session.sessionId)).toMatchObject({
      state: 'closed',
      verdict: { class: 'clean_poweroff', confidence: 'certain' },
    });
    expect(await platform.leftovers()).toEqual([]);
  });

  it('of vm-service a machine that a stranger kills afterwards is said to have been killed', async () => {
    const machine = await platform.startMachine('later');
    await platform.killService('vm-service');
    await expectNoUnownedMachine();
    process.kill((await qemusOf(platform.home)).get(machine)?.pid ?? Number.NaN, 'SIGKILL');
    await eventually(async () => (await platform.json<{ state: string }>('show', machine)).state === 'ended');
    expect(await platform.json('verdict', machine)).toMatchObject({
      isProvisional: false,
      verdict: { class: 'host_killed', account: expect.stringContaining('SIGKILL') },
    });
    expect(await platform.vmctl(['rm', 'later'])).toMatchObject({ exitCode: 0 });
    expect(await platform.leftovers()).toEqual([]);
  });

  it('of agent-service in the middle of a run, the run is failed, and its session ends with machine and transcript', async () => {
    const [file, script] = platform.commandLine;
    const command = await openCommand(file, [script, 'agent', 'run', '--project', 'cut-short', 'Write FizzBuzz.'], {
      env: platform.environment,
      acceptExitCodes: [0, 1],
      timeoutMs: 300_000,
    });
    let shown = '';
    command.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString('utf8')));
    while (!shown.includes('# plan')) await once(command.stdout, 'data');
    await platform.killService('agent-service');
    expect(await command.finished).toBe(1);
    await expectNoUnownedMachine();
    expect(await qemusOf(platform.home)).toEqual(new Map());
    const log = await platform.json<{ entries: { type: string; outcome?: string }[] }>('log', 'cut-short');
    expect(log.entries.filter(({ type }) => type === 'run_ended')).toEqual([
      expect.objectContaining({ outcome: 'failed' }),
    ]);
    expect(log.entries.at(-1)).toMatchObject({ type: 'session_closed' });
  });
});
