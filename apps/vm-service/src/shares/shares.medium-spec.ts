import { chmod, mkdir, rename, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { vmOps, type MachineView } from '@inquest/contracts-vm';
import { createFakeGuest } from '@inquest/guest-link/testing';
import { tempDir, type TempDir } from '@inquest/testing';
import { VmServiceHarness } from '../testing/vm-service-harness';

describe('directories of the host for machines', () => {
  let vm: VmServiceHarness;
  let root: TempDir;
  let docs: string;

  beforeAll(async () => {
    vm = await VmServiceHarness.start();
    root = await tempDir('shares');
    docs = await makeDirectory('docs');
    await symlink('/etc/passwd', path.join(docs, 'passwd'));
  }, 120_000);
  afterAll(async () => {
    await vm.stop();
    await root.remove();
  }, 60_000);

  async function makeDirectory(name: string, mode = 0o755): Promise<string> {
    const directory = path.join(root.path, name);
    await mkdir(directory);
    await chmod(directory, mode);
    return directory;
  }
  const share = (machineId: string, directory: string, guestPath: string): Promise<MachineView> =>
    vm.call(vmOps.share, { machineId, share: { directory, guestPath } });
  const mountsOf = (machineId: string) => Object.fromEntries(vm.driver.machine(machineId).guest.agent.mounts);

  it('are mounted before the machine is ready, and the links that lead out of them are told', async () => {
    const requested = await vm.start({ shares: [{ directory: `${docs}/`, guestPath: '/mnt/docs/' }] });
    const told = {
      directory: docs,
      guestPath: '/mnt/docs',
      outsideLinks: 1,
      namedLinks: ['passwd'],
      isFullyLookedAt: true,
    };
    expect(requested.shares).toEqual([{ ...told, isAttached: false }]);
    const { machineId } = requested;
    const ready = await vm.waitFor(machineId, 'ready', 'ended');
    expect(ready).toMatchObject({ state: 'ready', origin: 'boot' });
    expect(mountsOf(machineId)).toEqual({ '/mnt/docs': 'share0' });
    expect(vm.driver.machine(machineId).spec.shares).toEqual([{ tag: 'share0', path: docs }]);
    await expect(vm.show(machineId)).resolves.toMatchObject({ shares: [{ ...told, isAttached: true }] });
    await vm.destroy(machineId);
  });

  it('come and go with the next incarnation, and the running one keeps what it has', async () => {
    const other = await makeDirectory('other');
    const { machineId } = await vm.boot({ shares: [{ directory: docs, guestPath: '/mnt/docs' }] });
    const added = await share(machineId, other, '/mnt/other');
    expect(added.shares.map(({ guestPath, isAttached }) => [guestPath, isAttached])).toEqual([
      ['/mnt/docs', true],
      ['/mnt/other', false],
    ]);
    await vm.call(vmOps.unshare, { machineId, guestPath: '/mnt/docs' });
    expect(vm.driver.machine(machineId).spec.shares).toEqual([{ tag: 'share0', path: docs }]);
    await vm.reset(machineId);
    await vm.waitFor(machineId, 'ready');
    expect(mountsOf(machineId)).toEqual({ '/mnt/other': 'share1' });
    await expect(vm.call(vmOps.unshare, { machineId, guestPath: '/mnt/docs' })).rejects.toMatchObject({
      code: 'SHARE_UNKNOWN',
      status: 404,
    });
    await vm.destroy(machineId);
    await expect(share(machineId, docs, '/mnt/docs')).rejects.toMatchObject({ code: 'MACHINE_STATE_WRONG' });
  });

  it('are looked at again before a reset, which does not happen when one is not fit any more', async () => {
    const moved = await makeDirectory('moved');
    const { machineId } = await vm.boot({ shares: [{ directory: moved, guestPath: '/mnt/moved' }] });
    await rename(moved, `${moved}-away`);
    await symlink('/etc', moved);
    await expect(vm.reset(machineId)).rejects.toMatchObject({ code: 'SHARE_REFUSED' });
    await expect(vm.show(machineId)).resolves.toMatchObject({ state: 'ready', incarnation: 1 });
    await vm.destroy(machineId);
  });

  it.each<[string, () => Promise<string> | string, string, RegExp]>([
    ['a home', () => homedir(), '/mnt/x', /home directory/],
    ['everything', () => '/', '/mnt/x', /whole host/],
    ['the state of this platform', () => vm.home, '/mnt/x', /state of this platform/],
    ['a link to what is refused', () => linkTo('/etc'), '/mnt/x', /part of the system/],
    ['a directory that is not there', () => '/nowhere', '/mnt/x', /no such file/],
    ['a file', () => '/bin/sh', '/mnt/x', /no directory/],
    ['a directory that machines cannot read', () => makeDirectory('closed', 0o700), '/mnt/x', /cannot use/],
    ['a place that is the whole guest', () => docs, '/mnt/..', /needs its own/],
    ["a place in the guest's kernel", () => docs, '/proc/1', /needs its own \/proc/],
  ])('are refused when one is %s, and no machine is begun', async (_, directoryOf, guestPath, why) => {
    const before = vm.driver.machines.length;
    const shares = [{ directory: await directoryOf(), guestPath }];
    await expect(vm.start({ shares })).rejects.toMatchObject({
      code: 'SHARE_REFUSED',
      message: expect.stringMatching(why),
    });
    expect(vm.driver.machines).toHaveLength(before);
  });
  async function linkTo(target: string): Promise<string> {
    const link = path.join(root.path, 'link');
    await symlink(target, link);
    return link;
  }

  it('are refused when two want the same place', async () => {
    const shares = ['/mnt/x', '/mnt/./x'].map((guestPath) => ({ directory: docs, guestPath }));
    await expect(vm.start({ shares })).rejects.toMatchObject({ code: 'SHARE_REFUSED' });
  });

  it('end a machine whose guest cannot mount them, and its end says why', async () => {
    vm.driver.makeGuest = async () => {
      const guest = await createFakeGuest();
      guest.agent.mountFailure = 'no such device';
      return guest;
    };
    const { machineId } = await vm.start({ shares: [{ directory: docs, guestPath: '/mnt/docs' }] });
    const ended = await vm.waitFor(machineId, 'ready', 'ended');
    vm.driver.makeGuest = () => createFakeGuest();
    expect(ended).toMatchObject({ state: 'ended', message: expect.stringContaining('no such device') });
    await vm.destroy(machineId);
  });
});
