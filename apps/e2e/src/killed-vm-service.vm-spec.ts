import { eventually } from '@inquest/testing';
import { delay } from '@inquest/kernel';
import { qemusOf } from './testing/host-processes';
import { PlatformUnderTest } from './testing/platform-under-test';

/** How often vm-service is killed; the promise was also tried with 50. */
const KILLS = Number(process.env['INQUEST_TEST_KILLS'] ?? 3);

/** A supervisor gives a service up that ends twenty times in a row, and calls it stable after 30 s (`RESTART_POLICY`). */
const KILLS_IN_A_ROW = 15;
const STABLE_MS = 31_000;

/** A start, its readiness and its end fit into this; the moment of the kill is anywhere in it. */
const MOMENTS_MS = 1_200;

/** The promise: ten seconds after the service runs again, nothing is without an owner. */
const UNOWNED_GONE_MS = 10_000;

/** Commands in a guest that is emulated on a crowded host. */
const OBEY_TIMEOUT_MS = 60_000;

interface Machine {
  readonly machineId: string;
  readonly state: string;
  readonly verdict: { readonly class: string } | null;
}

describe(`vm-service, killed at ${KILLS} random moments amid starts, commands, resets and removals; INQUEST_TEST_KILLS=50 for the long run`, () => {
  let platform: PlatformUnderTest;
  let anchor: string;

  beforeAll(async () => {
    platform = await PlatformUnderTest.create('killed-vm');
    await platform.upWithImage();
    anchor = await platform.startMachine('anchor');
  }, 600_000);
  afterAll(() => platform.remove(), 120_000);

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
      await eventually(async () => (await unowned()).length === 0, { timeoutMs: UNOWNED_GONE_MS }).catch(async (e) => {
        throw new Error(`kill ${kill} after ${momentMs} ms left ${(await unowned()).join(', ')}`, { cause: e });
      });
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
