import { sampleVmSpec } from '@inquest/vm-driver/testing';
import { instanceOfCommand } from './instance-command';
import { qemuArguments } from './qemu-arguments';

const ROOT = '/var/lib/inquest/machines';
/** As /proc has it, where an end follows the last argument. */
const commandOf = (...args: string[]): string[] => [...args, ''];

describe('instanceOfCommand', () => {
  it('finds the instance of what this driver starts', () => {
    const spec = sampleVmSpec('/var/lib/inquest');
    const args = qemuArguments(spec, { accelerator: 'tcg', translationCacheMib: 64, memory: null, isRestored: false });
    expect(instanceOfCommand(commandOf('/usr/bin/qemu-system-x86_64', ...args), ROOT)).toBe(spec.directory);
    const wrapped = commandOf('/bin/sh', '-c', 'wait', 'inquest-machine', 'qemu-system-x86_64', ...args);
    expect(instanceOfCommand(wrapped, ROOT)).toBe(spec.directory);
    const overlay = `${spec.directory}/vmm/overlay.1.qcow2`;
    expect(instanceOfCommand(commandOf('qemu-img', 'create', '-b', '/base', overlay), ROOT)).toBe(spec.directory);
  });

  it.each([
    ['an editor on a file of an instance', commandOf('vim', `${ROOT}/m1/vmm/serial.sock`)],
    ['a shell of somebody', commandOf('sh', '-c', `tail ${ROOT}/m1/vmm/console.log`)],
    ['a QEMU of somebody else', commandOf('qemu-system-x86_64', '-drive', '/home/me/disk.qcow2')],
    ['a QEMU of another root', commandOf('qemu-system-x86_64', `path=${ROOT}-old/m1/vmm/x.sock`)],
    ['a program that only mentions QEMU', commandOf('grep', 'qemu-system-x86_64', `${ROOT}/m1/vmm/x`)],
    ['a QEMU that uses a file outside of vmm/', commandOf('qemu-system-x86_64', `${ROOT}/m1/instance.json`)],
    ['a kernel thread', ['']],
  ])('leaves %s alone', (_, command) => {
    expect(instanceOfCommand(command, ROOT)).toBeNull();
  });
});
