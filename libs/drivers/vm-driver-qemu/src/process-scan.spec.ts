import { sampleVmSpec } from '@inquest/vm-driver/testing';
import { instanceOfCommandLine } from './process-scan';
import { qemuArguments } from './qemu-arguments';

const ROOT = '/var/lib/inquest/machines';
const lineOf = (...args: string[]): string => `${args.join('\0')}\0`;

describe('instanceOfCommandLine', () => {
  it('finds the instance of what this driver starts', () => {
    const spec = sampleVmSpec('/var/lib/inquest');
    const args = qemuArguments(spec, { accelerator: 'tcg', translationCacheMib: 64, memory: null, isRestored: false });
    expect(instanceOfCommandLine(lineOf('/usr/bin/qemu-system-x86_64', ...args), ROOT)).toBe(spec.directory);
    const wrapped = lineOf('/usr/bin/prlimit', '--core=0', '/usr/bin/env', 'qemu-system-x86_64', ...args);
    expect(instanceOfCommandLine(wrapped, ROOT)).toBe(spec.directory);
    const overlay = `${spec.directory}/vmm/overlay.1.qcow2`;
    expect(instanceOfCommandLine(lineOf('qemu-img', 'create', '-b', '/base', overlay), ROOT)).toBe(spec.directory);
  });

  it.each([
    ['an editor on a file of an instance', lineOf('vim', `${ROOT}/m1/vmm/serial.sock`)],
    ['a QEMU of somebody else', lineOf('qemu-system-x86_64', '-drive', '/home/me/disk.qcow2')],
    ['a QEMU of another root', lineOf('qemu-system-x86_64', `path=${ROOT}-old/m1/vmm/x.sock`)],
    ['a program that only mentions QEMU', lineOf('grep', 'qemu-system-x86_64', `${ROOT}/m1/vmm/x`)],
    ['a QEMU that uses a file outside of vmm/', lineOf('qemu-system-x86_64', `${ROOT}/m1/instance.json`)],
    ['a kernel thread', ''],
  ])('leaves %s alone', (_, commandLine) => {
    expect(instanceOfCommandLine(commandLine, ROOT)).toBeNull();
  });
});
