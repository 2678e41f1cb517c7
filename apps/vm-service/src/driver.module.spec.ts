import { loadConfig } from '@inquest/config';
import { driverFor } from './driver.module';
import { VmServiceConfig } from './vm-service.config';

const REQUIRED = { INQUEST_HOME: '/tmp/inquest', INQUEST_URL_SIGNING_KEY: 'k'.repeat(32) };
const driverOf = (env: Record<string, string>) =>
  driverFor(loadConfig(VmServiceConfig, { ...REQUIRED, ...env }, { serviceName: 'vm-service' }));

describe('the driver of a configuration', () => {
  it.each([
    ['QEMU unless it says otherwise', {}, 'qemu'],
    ['Firecracker when it says so', { INQUEST_VM_DRIVER: 'firecracker' }, 'firecracker'],
  ])('is %s', (_, env, name) => {
    expect(driverOf(env).name).toBe(name);
  });

  it.each([
    ['INQUEST_VM_DRIVER', 'xen'],
    ['INQUEST_FIRECRACKER', 'firecracker --no-seccomp'],
    ['INQUEST_FIRECRACKER', '../firecracker'],
  ])('is refused with %s=%s', (variable, value) => {
    expect(() => driverOf({ [variable]: value })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(variable) }),
    );
  });
});
