import { VmServiceHarness } from '../testing/vm-service-harness';

describe('a maintenance machine', () => {
  let vm: VmServiceHarness;

  beforeAll(async () => {
    vm = await VmServiceHarness.start();
  }, 120_000);
  afterAll(() => vm.stop(), 60_000);

  it('writes the disk of the working copy itself; every other machine has an overlay', async () => {
    const session = await vm.boot();
    const maintenance = await vm.boot({ purpose: 'maintenance' });
    const diskOf = (machineId: string) => vm.driver.machine(machineId).spec.disk;
    expect(diskOf(maintenance.machineId)).toMatchObject({ isWritable: true });
    expect(diskOf(session.machineId)).toMatchObject({ isWritable: false });
    await vm.destroy(maintenance.machineId);
  });

  it('is alone on its working copy, also of two that come at once', async () => {
    const starts = await Promise.allSettled([1, 2].map(() => vm.start({ purpose: 'maintenance' })));
    const [started, refused] = ['fulfilled', 'rejected'].map((status) =>
      starts.find((start) => start.status === status),
    );
    expect(refused).toMatchObject({ reason: { code: 'MACHINE_MAINTENANCE_TAKEN', fault: 'caller' } });
    const { machineId } = (started as PromiseFulfilledResult<{ readonly machineId: string }>).value;
    await vm.destroy(machineId);
    const next = await vm.boot({ purpose: 'maintenance' });
    await vm.destroy(next.machineId);
  });
});
