import { sampleVmSpec } from '@inquest/vm-driver/testing';
import { firecrackerArguments, firecrackerConfiguration } from './firecracker-configuration';

describe('firecrackerConfiguration', () => {
  const spec = sampleVmSpec('/var/lib/inquest', { cpus: 2, memoryMib: 512 });
  const configuration = firecrackerConfiguration(spec, '/disk.raw');

  it('has a disk, the vsock of the guest with context id 3, random numbers, and no network card', () => {
    expect(Object.keys(configuration).sort()).toEqual(['boot-source', 'drives', 'entropy', 'machine-config', 'vsock']);
    expect(configuration.vsock).toEqual({ guest_cid: 3, uds_path: `${spec.directory}/vmm/v.sock` });
    expect(configuration['machine-config']).toEqual({ vcpu_count: 2, mem_size_mib: 512 });
    expect(configuration.drives).toEqual([
      { drive_id: 'root', path_on_host: '/disk.raw', is_root_device: true, is_read_only: false, cache_type: 'Unsafe' },
    ]);
  });

  it('boots the files of the image, with its kernel arguments after its own', () => {
    expect(configuration['boot-source']).toEqual({
      kernel_image_path: '/images/vmlinux',
      initrd_path: '/images/initramfs.cpio',
      boot_args: expect.stringMatching(
        /^console=ttyS0 reboot=k .*panic=1 inquest\.root=\/dev\/vda inquest\.hostname=sample rw$/,
      ),
    });
  });

  it('lets what has to stay reach the disk when the guest says so', () => {
    const writable = { ...spec, disk: { ...spec.disk, isWritable: true } };
    expect(firecrackerConfiguration(writable, '/disk.raw').drives[0]?.cache_type).toBe('Writeback');
  });
});

describe('firecrackerArguments', () => {
  it('asks for no API, and keeps the log out of the console', () => {
    expect(firecrackerArguments('/m/a')).toEqual([
      '--no-api',
      ...['--config-file', '/m/a/vmm/firecracker.json'],
      ...['--log-path', '/m/a/vmm/firecracker.log', '--level', 'Error'],
    ]);
  });
});
