import { once } from 'node:events';
import { openCommand } from '@inquest/process';
import { eventually } from '@inquest/testing';
import { delay } from '@inquest/kernel';
import { qemusOf } from './testing/host-processes';
import { PlatformUnderTest } from './testing/platform-under-test';

interface MachineList {
  readonly items: readonly { readonly machineId: string; readonly state: string }[];
}

interface Machine {
  readonly machineId: string;
  readonly state: string;
  readonly verdict: { readonly class: string } | null;
}

/** How often vm-service is killed; the promise was also tried with 50. */
const KILLS = Number(process.env['INQUEST_TEST_KILLS'] ?? 3);

/** A supervisor gives a service up that ends twenty times in a row, and calls it stable after 30 s (`RESTART_POLICY`). */
const KILLS_IN_A_ROW = 15;
const STABLE_MS = 31_000;

/** A start, its readiness and its end fit into this; the moment of the kill is anywhere in it. */
const MOMENTS_MS = 1_200;

/** Commands in a guest that is emulated on a crowded host. */
const OBEY_TIMEOUT_MS = 60_000;

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

  describe(`of vm-service, ${KILLS} times at random moments amid starts, commands, resets and removals; INQUEST_TEST_KILLS=50 for the long run`, () => {
    let anchor: string;
    beforeAll(async () => {
      anchor = await platform.startMachine('anchor');
    }, 300_000);

    /** Work of every kind at once. Whether it is done is not asked: the service dies in the middle of it. */
    const work = (victims: readonly Machine[], signal: AbortSignal): Promise<unknown> => {
      const send = (method: string, target: string, body: object = {}): Promise<unknown> =>
        platform.request(target, { method, body: JSON.stringify(body), signal }).catch(() => null);
      const [first, second] = victims.map(({ machineId }) => machineId);
      return Promise.all([
        send('POST', '/v1/machines', { image: 'tiny' }),
        send('POST', '/v1/machines', { image: 'tiny' }),
        send('POST', `/v1/machines/${anchor}/exec`, { command: 'echo working' }),
        ...(first === undefined ? [] : [send('DELETE', `/v1/machines/${first}`)]),
        ...(second === undefined ? [] : [send('POST', `/v1/machines/${second}/reset`)]),
      ]);
    };

    const machines = async (query = ''): Promise<readonly Machine[]> =>
      (await platform.request(`/v1/machines${query}`)).body['items'] as readonly Machine[];

    const obeys = async (machine: string): Promise<boolean> => {
      const { status, body } = await platform.request(`/v1/machines/${machine}/exec`, {
        method: 'POST',
        body: JSON.stringify({ command: 'echo here' }),
      });
      return status < 300 && body['exitCode'] === 0;
    };

    it('leaves nothing without an owner 10 s after its restart, and no running machine is lost', async () => {
      const anchorPid = (await qemusOf(platform.home)).get(anchor)?.pid;
      for (let kill = 1; kill <= KILLS; kill++) {
        if (kill % KILLS_IN_A_ROW === 0) await delay(STABLE_MS);
        const momentMs = Math.round(Math.random() * MOMENTS_MS);
        const victims = (await machines()).filter(({ machineId }) => machineId !== anchor);
        const dead = new AbortController();
        const working = work(victims, dead.signal);
        await delay(momentMs);
        await platform.killService('vm-service');
        dead.abort();
        await working;
        const unowned = async (): Promise<string[]> => {
          const live = (await machines()).map(({ machineId }) => machineId);
          return [...(await qemusOf(platform.home)).keys()].filter((machine) => !live.includes(machine));
        };
        await eventually(async () => (await unowned()).length === 0, { timeoutMs: UNOWNED_GONE_MS }).catch(
          async (e) => {
            throw new Error(`kill ${kill} after ${momentMs} ms left ${(await unowned()).join(', ')}`, { cause: e });
          },
        );
        expect((await qemusOf(platform.home)).get(anchor)?.pid).toBe(anchorPid);
        await eventually(() => obeys(anchor), { timeoutMs: OBEY_TIMEOUT_MS });
      }
      // What was ready is ready, what was being started has ended, and nothing hangs in between.
      const settled = ['ready', 'paused'];
      await eventually(async () => (await machines()).every(({ state }) => settled.includes(state)));
      for (const { machineId } of await machines())
        await eventually(() => obeys(machineId), { timeoutMs: OBEY_TIMEOUT_MS });
      const ended = (await machines('?all=true&limit=100')).filter(({ state }) => state === 'ended');
      expect(ended.filter(({ verdict }) => verdict === null)).toEqual([]);
    }, 3_600_000);

    it('keeps the account of a machine whole through all of its lives', async () => {
      expect(await platform.vmctl(['run', anchor, 'poweroff'])).toMatchObject({ exitCode: 0 });
      expect(await platform.json('verdict', anchor)).toMatchObject({
        isProvisional: false,
        verdict: { class: 'clean_poweroff', confidence: 'certain', warnings: [] },
      });
    });

    it('leaves no file and no socket behind when the machines are removed', async () => {
      for (const { machineId } of await machines()) await platform.vmctl(['rm', machineId]);
      expect(await platform.vmctl(['rm', anchor])).toMatchObject({ exitCode: 0 });
      expect([...(await qemusOf(platform.home)).keys()]).toEqual([]);
      expect(await platform.leftovers()).toEqual([]);
    });
  });
});
