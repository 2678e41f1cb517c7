import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dto } from '@inquest/contracts-base';
import { ExecSerialRequest, vmOps, type ExecSerialView } from '@inquest/contracts-vm';
import { serialResult, type FakeMachine } from '@inquest/vm-driver/testing';
import { VmServiceHarness } from '../testing/vm-service-harness';

describe('commands by the serial port of a machine', () => {
  let vm: VmServiceHarness;
  let machineId: string;
  let machine: FakeMachine;

  beforeAll(async () => {
    vm = await VmServiceHarness.start();
    ({ machineId } = await vm.boot());
    machine = vm.driver.machine(machineId);
  }, 120_000);
  afterAll(() => vm.stop(), 60_000);
  const exec = (command: string, timeoutMs = 30_000): Promise<ExecSerialView> =>
    vm.call(vmOps.execSerial, dto(ExecSerialRequest, { machineId, command, timeoutMs }));

  it('give a failing command as a result, with both its outputs in one', async () => {
    await expect(exec('echo no; exit 3')).resolves.toMatchObject({
      exitCode: 3,
      output: { text: 'no\n', totalBytes: 3, droppedBytes: 0, isLossy: false },
    });
  });

  it('are on record before they are typed, by length and digest alone', async () => {
    const command = 'mysql -p hunter2';
    const actions = () => readFile(vm.evidenceFile(machineId, 'actions.jsonl'), 'utf8');
    let known = '';
    const { serialShell } = machine;
    machine.serialShell = async () => {
      known = await actions();
      return serialResult(0, '');
    };
    await vm.call(vmOps.execSerial, dto(ExecSerialRequest, { machineId, command, by: 'anna' }));
    machine.serialShell = serialShell;
    const sha256 = createHash('sha256').update(command).digest('hex');
    expect(JSON.parse(known.trim().split('\n').at(-1) ?? '')).toMatchObject({
      action: 'exec_serial',
      by: 'anna',
      reason: `16 bytes, sha256 ${sha256}`,
    });
    expect(known).not.toContain('hunter2');
  });

  it('need no guest agent', async () => {
    await machine.link.close();
    await expect(exec('exit 0')).resolves.toMatchObject({ exitCode: 0 });
  });

  it.each([
    ['an empty command', '', 'INPUT_INVALID'],
    ['one of more characters than it takes', 'a'.repeat(4097), 'INPUT_INVALID'],
    ['one of more bytes than it takes', 'é'.repeat(4096), 'VM_INPUT_INVALID'],
    ['one with a NUL', 'a\0', 'VM_INPUT_INVALID'],
  ])('are refused for %s, and nothing is typed', async (_, command, code) => {
    const typed: string[] = [];
    machine.serialShell = (line) => Promise.resolve(serialResult(typed.push(line), ''));
    await expect(exec(command)).rejects.toMatchObject({ code, fault: 'caller' });
    expect(typed).toEqual([]);
  });

  it('fail with what to do when no shell answers or the command does not end, and harm no machine', async () => {
    machine.serialShell = null;
    await expect(exec('true')).rejects.toMatchObject({
      code: 'VM_SERIAL_SILENT',
      fault: 'guest',
      remediation: expect.stringContaining('ttyS1'),
    });
    machine.serialShell = () => new Promise(() => undefined);
    await expect(exec('sleep 9', 1_000)).rejects.toMatchObject({ code: 'VM_SERIAL_TIMEOUT', fault: 'guest' });
    await expect(vm.show(machineId)).resolves.toMatchObject({ state: 'ready' });
  });

  it('are refused where the driver gives no second port', async () => {
    const { capabilities } = machine;
    Object.assign(machine, { capabilities: { ...capabilities, serialShell: false } });
    await expect(exec('true')).rejects.toMatchObject({ code: 'MACHINE_CAPABILITY_MISSING' });
    Object.assign(machine, { capabilities });
  });

  it('are lost with their machine', async () => {
    machine.serialShell = () => new Promise(() => void machine.end('killed'));
    await expect(exec('kill')).rejects.toMatchObject({ code: 'MACHINE_LOST' });
  });
});
