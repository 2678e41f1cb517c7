import { eventually } from '@inquest/testing';
import { processesOf, qemusOf } from './testing/host-processes';
import { PlatformUnderTest } from './testing/platform-under-test';
import { stackStatus } from '@inquest/stack';

/** After `vmctl down` nothing of a home runs, whatever was at work. */
describe('vmctl down', () => {
  let platform: PlatformUnderTest;

  beforeAll(async () => {
    platform = await PlatformUnderTest.create('leftovers');
    await platform.upWithImage();
  }, 600_000);
  afterAll(() => platform.remove(), 120_000);

  async function expectNothingLeft(): Promise<void> {
    expect(await processesOf(platform.home)).toEqual([]);
    expect(await platform.leftovers()).toEqual([]);
    expect(await PlatformUnderTest.exists(platform.layout.run)).toBe(false);
    expect(await platform.vmctl(['status'])).toMatchObject({ exitCode: 3 });
  }

  it('ends a live machine, with its verdict, and every process, socket and overlay', async () => {
    const machine = await platform.startMachine('at-work');
    expect([...(await qemusOf(platform.home)).keys()]).toEqual([machine]);
    expect(await platform.vmctl(['down'])).toMatchObject({ exitCode: 0, stdout: 'down: every process is gone\n' });
    await expectNothingLeft();
  });

  it('says so when nothing was running', async () => {
    expect(await platform.vmctl(['down'])).toEqual({ exitCode: 0, stdout: 'nothing was running\n', stderr: '' });
  });

  it('keeps the data: images, records and verdicts are there after the next start', async () => {
    await platform.json('up');
    expect(await platform.json('image', 'show', 'tiny')).toMatchObject({ frozenVersion: 1 });
    expect(await platform.json('verdict', 'at-work')).toMatchObject({
      isProvisional: false,
      verdict: { class: 'host_killed' },
    });
  });

  it('ends everything that a killed supervisor left', async () => {
    await platform.startMachine('orphan');
    const { state } = await stackStatus(platform.home);
    process.kill(state?.supervisor.pid ?? Number.NaN, 'SIGKILL');
    await eventually(async () => !(await stackStatus(platform.home)).isSupervised);
    expect(await platform.vmctl(['down'])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('down: every process is gone'),
    });
    expect(await processesOf(platform.home)).toEqual([]);
  });

  it('lets the next start clear up after it, and give the machine its verdict', async () => {
    await platform.json('up');
    expect(await qemusOf(platform.home)).toEqual(new Map());
    expect(await platform.json('show', 'orphan')).toMatchObject({
      state: 'ended',
      verdict: { class: expect.stringMatching(/./) },
    });
    expect(await platform.vmctl(['down'])).toMatchObject({ exitCode: 0 });
    await expectNothingLeft();
  });
});
