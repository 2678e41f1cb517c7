import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runCommand } from '@inquest/process';
import { tempDir } from '@inquest/testing';
import { sampleVmSpec } from '@inquest/vm-driver/testing';
import { firecrackerConfiguration, type FirecrackerConfiguration } from '../../firecracker-configuration';
import { probeKernel } from '../../probe-kernel';

const STAND_IN = path.join(__dirname, 'firecracker-stand-in.mjs');
const run = (...args: string[]) => runCommand(STAND_IN, args, { timeoutMs: 60_000, acceptExitCodes: [0, 1, 152, 153] });

describe('the stand-in for Firecracker', () => {
  let root: Awaited<ReturnType<typeof tempDir>>;
  let sound: FirecrackerConfiguration;
  beforeAll(async () => {
    root = await tempDir('stand-in');
    const spec = sampleVmSpec(root.path);
    const [kernelPath, initramfsPath, disk] = ['vmlinux', 'initramfs', 'disk'].map((name) =>
      path.join(root.path, name),
    );
    await mkdir(path.join(spec.directory, 'vmm'), { recursive: true });
    await writeFile(kernelPath as string, probeKernel(1));
    await writeFile(initramfsPath as string, '');
    await writeFile(disk as string, '');
    const boot = { ...spec.boot, kernelPath: kernelPath as string, initramfsPath: initramfsPath as string };
    sound = firecrackerConfiguration({ ...spec, boot }, disk as string);
  });
  afterAll(() => root.remove());

  async function runWith(configuration: unknown) {
    const file = path.join(root.path, 'firecracker.json');
    await writeFile(file, JSON.stringify(configuration));
    return run('--no-api', '--config-file', file);
  }

  it('says that it is none', async () => {
    await expect(run('--version')).resolves.toMatchObject({
      stdout: expect.stringMatching(/^Firecracker v.*stand-in/),
    });
  });

  it('runs a kernel that resets the machine to its end', async () => {
    const { drives: _drives, vsock: _vsock, ...small } = sound;
    const boot = { kernel_image_path: sound['boot-source'].kernel_image_path, boot_args: 'reboot=k' };
    await expect(runWith({ ...small, 'boot-source': boot, drives: [] })).resolves.toMatchObject({ exitCode: 0 });
  });

  it.each<[string, string[]]>([
    ['an unknown argument', ['--no-api', '--config-file', 'x', '--nics', '2']],
    ['an argument twice', ['--no-api', '--no-api', '--config-file', 'x']],
    ['a value that is missing', ['--no-api', '--config-file']],
    ['no configuration', ['--no-api']],
    ['a bare word', ['machine']],
  ])('refuses %s as Firecracker does', async (_, args) => {
    await expect(run(...args)).resolves.toMatchObject({ exitCode: 153, stderr: expect.stringMatching(/^Error: /) });
  });

  it.each<[string, RegExp, (configuration: FirecrackerConfiguration) => unknown]>([
    ['no drives', /drives/, ({ drives: _, ...rest }) => rest],
    ['a name that it does not know', /unknown field `nics`/, (rest) => ({ ...rest, nics: [] })],
    ['33 processors', /vcpu_count/, (rest) => ({ ...rest, 'machine-config': { vcpu_count: 33, mem_size_mib: 128 } })],
    [
      'a context id with a meaning of its own',
      /guest_cid/,
      (rest) => ({ ...rest, vsock: { ...rest.vsock, guest_cid: 2 } }),
    ],
    ['a socket in the way', /exists/, (rest) => ({ ...rest, vsock: { guest_cid: 3, uds_path: __filename } })],
    [
      'a kernel that is none',
      /kernel_image_path/,
      (rest) => ({ ...rest, 'boot-source': { ...rest['boot-source'], kernel_image_path: __filename } }),
    ],
    [
      'a disk that is not there',
      /backing file/,
      (rest) => ({ ...rest, drives: [{ ...rest.drives[0], path_on_host: '/nowhere' }] }),
    ],
    ['two root devices', /root block device/, (rest) => ({ ...rest, drives: [rest.drives[0], rest.drives[0]] })],
  ])('refuses a configuration with %s before anything runs', async (_, message, change) => {
    await expect(runWith(change(sound))).resolves.toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(message),
    });
  });
});
