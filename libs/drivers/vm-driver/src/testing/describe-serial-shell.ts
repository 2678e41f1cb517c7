import { requireSerialShell, SERIAL_COMMAND_MAX_BYTES, supportsSerialShell } from '../serial-shell';
import { soon, waitUntilUp } from './suite-steps';
import type { VmDriverHarness } from './vm-driver-harness';

/** Part of `describeVmDriver`: one test for each promise about the shell on the second serial port. */
export function describeSerialShell(harnessOf: () => VmDriverHarness): void {
  it('runs commands by a second serial port, one at a time, or says that there is none', async () => {
    const harness = harnessOf();
    const { driver, guestUpMs } = harness;
    const spec = harness.makeSpec();
    const machine = await driver.start(spec, soon());
    expect(machine.capabilities.serialShell).toBe(driver.capabilities.serialShells ?? false);
    if (supportsSerialShell(machine)) {
      const exec = (command: string) =>
        machine.execSerial({ command, timeoutMs: guestUpMs, maxOutputBytes: 4096 }, AbortSignal.timeout(guestUpMs));
      await waitUntilUp(harness, machine);
      const running = exec('echo hello; exit 3');
      await expect(exec('echo second')).rejects.toMatchObject({ code: 'VM_SERIAL_BUSY' });
      const { exitCode, output } = await running;
      expect({ exitCode, text: Buffer.from(output.head).toString() }).toEqual({ exitCode: 3, text: 'hello\n' });
      for (const command of ['', 'a\0b', 'a'.repeat(SERIAL_COMMAND_MAX_BYTES + 1)]) {
        await expect(exec(command)).rejects.toMatchObject({ code: 'VM_INPUT_INVALID' });
      }
      await machine.stop({ graceMs: 0 });
      await expect(exec('exit 0')).rejects.toMatchObject({ code: 'VM_MACHINE_ENDED' });
    } else {
      expect(() => requireSerialShell(machine)).toThrow(expect.objectContaining({ code: 'VM_CAPABILITY_MISSING' }));
    }
    await driver.destroyInstance(spec.directory);
  });
}
