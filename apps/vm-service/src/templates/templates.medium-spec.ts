import { mkdir, readdir, rm, truncate } from 'node:fs/promises';
import path from 'node:path';
import { dto } from '@inquest/contracts-base';
import {
  MakeTemplateRequest,
  TemplateStateRequest,
  vmOps,
  type TemplateStateView,
  type TemplateView,
} from '@inquest/contracts-vm';
import { eventually } from '@inquest/testing';
import { vmDriverError } from '@inquest/vm-driver';
import { VmServiceHarness } from '../testing/vm-service-harness';

describe('templates on a real nats-server and Postgres', () => {
  let vm: VmServiceHarness;
  beforeAll(async () => {
    vm = await VmServiceHarness.start();
  }, 120_000);
  afterAll(() => vm.stop(), 60_000);
  afterEach(() => rm(path.join(vm.home, 'templates'), { recursive: true, force: true }));

  const make = (more: Partial<MakeTemplateRequest> = {}): Promise<TemplateView> =>
    vm.call(vmOps.makeTemplate, dto(MakeTemplateRequest, { image: 'tiny', version: 1, ...more }));
  const stateOf = async (): Promise<Pick<TemplateStateView, 'state' | 'detail'>> => {
    const request = dto(TemplateStateRequest, { image: 'tiny', version: 1, memoryMib: 128 });
    const { state, detail } = await vm.call(vmOps.templateState, request);
    return { state, detail };
  };
  const templates = (): Promise<string[]> => readdir(path.join(vm.home, 'templates', 'tiny', '1')).catch(() => []);

  it('makes the template of a version once, for the memory that the image declares', async () => {
    const shape = { node: 'n1', image: 'tiny', version: 1, cpus: 1, memoryMib: 128 };
    await expect(make()).resolves.toEqual({ ...shape, isNew: true });
    await expect(make()).resolves.toEqual({ ...shape, isNew: false });
    await expect(make({ memoryMib: 256, cpus: 2 })).resolves.toMatchObject({ memoryMib: 256, cpus: 2, isNew: true });
    await expect(templates()).resolves.toEqual(['128-1', '256-2']);
  });

  it('leaves no machine, no instance and no evidence of the one that was captured', async () => {
    const evidence = async (): Promise<string[]> => readdir(path.join(vm.home, 'evidence')).catch(() => []);
    const before = await evidence();
    await make();
    await expect(readdir(vm.instancesRoot)).resolves.toEqual([]);
    await expect(evidence()).resolves.toEqual(before);
    expect((await vm.call(vmOps.nodes, {})).liveMachines).toBe(0);
  });

  it('makes one template for any number of requests at once', async () => {
    const made = await Promise.all([make(), make(), make()]);
    expect(made.filter(({ isNew }) => isNew)).toHaveLength(1);
  });

  it('clones where there is a template of the version and the shape, and boots elsewhere', async () => {
    await make();
    const clone = await vm.boot({ name: 'its-name' });
    expect(clone).toMatchObject({ state: 'ready', origin: 'clone' });
    const { requests } = vm.driver.machine(clone.machineId).guest.agent;
    expect(requests[0]).toMatchObject({ op: 'rebirth', hostname: 'its-name' });
    const larger = await vm.boot({ memoryMib: 256 });
    expect(larger).toMatchObject({ state: 'ready', origin: 'boot' });
    for (const { machineId } of [clone, larger]) await vm.destroy(machineId);
  });

  it('resets a clone into another clone', async () => {
    await make();
    const { machineId } = await vm.boot();
    await vm.reset(machineId);
    await expect(vm.waitFor(machineId, 'ready', 'ended')).resolves.toMatchObject({ incarnation: 2, origin: 'clone' });
    await vm.destroy(machineId);
  });

  it('boots a machine whose template was damaged, and makes the template anew when asked', async () => {
    await make();
    await truncate(path.join(vm.home, 'templates/tiny/1/128-1/template.json'));
    const machine = await vm.boot();
    expect(machine).toMatchObject({ state: 'ready', origin: 'boot' });
    await vm.destroy(machine.machineId);
    await expect(make()).resolves.toMatchObject({ isNew: true });
  });

  it('draws the verdict of a clone that was killed, from evidence without a boot', async () => {
    await make();
    const { machineId } = await vm.boot();
    await vm.destroy(machineId);
    const { verdict } = await vm.verdict(machineId);
    expect(verdict).toMatchObject({ class: 'host_killed', ended: true, warnings: [] });
  });

  it('refuses the template of a version that is not there, and leaves nothing', async () => {
    await expect(make({ version: 9 })).rejects.toMatchObject({ code: 'IMAGE_UNKNOWN' });
    await expect(readdir(path.join(vm.home, 'templates')).catch(() => [])).resolves.toEqual([]);
  });

  it('says why no template was made, and leaves neither one nor a machine', async () => {
    vm.driver.duringStart = () => Promise.reject(new Error('the disk is full'));
    await expect(make()).rejects.toMatchObject({ code: 'TEMPLATE_NOT_MADE', message: expect.stringMatching(/tiny:1/) });
    vm.driver.duringStart = () => Promise.resolve();
    await expect(templates()).resolves.toEqual([]);
    await expect(readdir(vm.instancesRoot)).resolves.toEqual([]);
  });

  it('says how a template stands: missing, being made, ready', async () => {
    await expect(stateOf()).resolves.toEqual({ state: 'missing', detail: '' });
    let goOn: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      vm.driver.duringStart = () => {
        resolve();
        return new Promise((release) => (goOn = release));
      };
    });
    const made = make();
    await begun;
    await expect(stateOf()).resolves.toEqual({ state: 'making', detail: '' });
    vm.driver.duringStart = () => Promise.resolve();
    goOn();
    await made;
    await expect(stateOf()).resolves.toEqual({ state: 'ready', detail: '' });
  });

  it('is made once for two who ask at the same time', async () => {
    const made = await Promise.all([make(), make()]);
    expect(made.map(({ isNew }) => isNew)).toEqual([true, false]);
  });

  it.each(['outdated', 'damaged'] as const)(
    'says that a template is %s and why, also after a restart, until it is made anew',
    async (flaw) => {
      await make();
      const spoil = () =>
        jest
          .spyOn(vm.driver, 'openTemplate')
          .mockRejectedValue(vmDriverError('VM_TEMPLATE_UNFIT', 'it is of QEMU 7', { flaw }));
      spoil();
      await expect(stateOf()).resolves.toEqual({ state: flaw, detail: 'it is of QEMU 7' });
      await vm.stopVmService();
      await vm.startVmService();
      const spoiled = spoil();
      await expect(stateOf()).resolves.toEqual({ state: flaw, detail: 'it is of QEMU 7' });
      await expect(templates()).resolves.toEqual(['128-1']);
      spoiled.mockRestore();
      const refusal = vmDriverError('VM_TEMPLATE_UNFIT', 'it is of QEMU 7', { flaw });
      jest.spyOn(vm.driver, 'openTemplate').mockRejectedValueOnce(refusal);
      await expect(make()).resolves.toMatchObject({ isNew: true });
      await expect(stateOf()).resolves.toEqual({ state: 'ready', detail: '' });
    },
  );

  it('leaves no half template when vm-service is stopped in the middle of one', async () => {
    const begun = new Promise<void>((resolve) => {
      vm.driver.duringStart = (_, signal) => {
        resolve();
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error)),
        );
      };
    });
    const making = make().catch((e: unknown) => e);
    await begun;
    await vm.stopVmService();
    await making;
    await vm.startVmService();
    await expect(stateOf()).resolves.toEqual({ state: 'missing', detail: '' });
    await eventually(async () => expect(await templates()).toEqual([]));
    await expect(make()).resolves.toMatchObject({ isNew: true });
  });

  it('removes what an earlier life left half-made and keeps what is whole', async () => {
    await make();
    await mkdir(path.join(vm.home, 'templates/tiny/1/512-1'));
    await vm.stopVmService();
    await vm.startVmService();
    await eventually(async () => expect(await templates()).toEqual(['128-1']));
    await expect(make()).resolves.toMatchObject({ isNew: false });
  });
});
