import { firecrackerArguments } from './firecracker-configuration';
import { instanceOfCommand } from './instance-command';

const ROOT = '/var/lib/inquest/machines';
const args = firecrackerArguments(`${ROOT}/m1`);

describe('instanceOfCommand', () => {
  it.each([
    ['Firecracker itself', ['/usr/bin/firecracker', ...args]],
    ['what it is started through', ['sh', '-c', 'exec', 'sh', '/e', 'prlimit', '--core=0', 'firecracker', ...args]],
  ])('finds the instance of %s', (_, command) => {
    expect(instanceOfCommand([...command, ''], ROOT)).toBe(`${ROOT}/m1`);
  });

  it.each([
    ['an editor on a file of an instance', ['vim', `${ROOT}/m1/vmm/firecracker.json`]],
    ['a Firecracker of somebody else', ['firecracker', '--no-api', '--config-file', '/home/me/vm.json']],
    ['a Firecracker of another root', ['firecracker', ...firecrackerArguments(`${ROOT}-old/m1`)]],
    ['a Firecracker with an API', ['firecracker', '--config-file', `${ROOT}/m1/vmm/firecracker.json`]],
    ['a kernel thread', ['']],
  ])('leaves %s alone', (_, command) => {
    expect(instanceOfCommand(command, ROOT)).toBeNull();
  });
});
