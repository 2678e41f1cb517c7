import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { hasCode, kernelError } from '@inquest/kernel';
import { observeGone, processIdentity } from '@inquest/process';
import type { VmSpec } from '@inquest/vm-driver';
import type { MachineElsewhere } from '@inquest/vm-driver/testing';
import { SerialPort } from '../serial-port';

/** What the other process runs: a driver with one machine, whose guest it waits for. */
const PROGRAM = `
const { QemuVmDriver } = require('@inquest/vm-driver-qemu');
const { GuestAgentClient } = require('@inquest/guest-link');
const [instancesRoot, spec, guestUpMs] = JSON.parse(process.argv[1]);
const soon = () => AbortSignal.timeout(guestUpMs);
(async () => {
  const machine = await new QemuVmDriver({ instancesRoot }).start({ ...spec, listeners: [] }, soon());
  await new GuestAgentClient(machine.link).ping({ signal: soon(), deadlineMs: guestUpMs });
  console.log(machine.pid);
})().catch((e) => { console.error(e); process.exit(1); });
`;

const OUTPUT_BYTES = 4096;

/** Starts a machine with a driver in a process of its own, which dies when it is told to. */
export async function startElsewhere(
  instancesRoot: string,
  spec: VmSpec,
  guestUpMs: number,
): Promise<MachineElsewhere> {
  const arguments_ = JSON.stringify([instancesRoot, spec, guestUpMs]);
  const child = spawn(process.execPath, ['-e', PROGRAM, arguments_], { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line', { signal: AbortSignal.timeout(guestUpMs) }),
    gone.then(() => Promise.reject(kernelError('INTERNAL', 'the other process ended'))),
  ])) as [string];
  const pid = Number(line);
  const die = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
  };
  return {
    pid,
    die,
    endAfterDeath: async (ending) => {
      const qemu = await processIdentity(pid);
      await die();
      await typeInto(spec, ending, guestUpMs);
      const isGone = qemu === null || (await observeGone(qemu, guestUpMs));
      if (!isGone) throw kernelError('INTERNAL', `QEMU ${pid} did not end by itself`);
    },
  };
}

/** By the second serial port, which needs nobody who watches the machine. */
async function typeInto(spec: VmSpec, command: string, timeoutMs: number): Promise<void> {
  const port = new SerialPort(spec, () => Promise.resolve(true));
  await port
    .exec({ command, timeoutMs, maxOutputBytes: OUTPUT_BYTES }, AbortSignal.timeout(timeoutMs))
    .catch((e: unknown) => {
      // The machine may be gone before its shell can say how the command ended.
      if (!hasCode(e, 'VM_MACHINE_ENDED')) throw e;
    });
}
