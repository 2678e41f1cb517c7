import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { abortable, kernelError } from '@inquest/kernel';
import { observeGone, processIdentity } from '@inquest/process';
import type { VmSpec } from '@inquest/vm-driver';
import type { MachineElsewhere } from '@inquest/vm-driver/testing';

/** What the other process runs: a driver with one machine, and a shell command for its guest on request. */
const PROGRAM = `
const { QemuVmDriver } = require('@inquest/vm-driver-qemu');
const { GuestAgentClient } = require('@inquest/guest-link');
const [instancesRoot, spec, guestUpMs] = JSON.parse(process.argv[1]);
const soon = () => AbortSignal.timeout(guestUpMs);
(async () => {
  const machine = await new QemuVmDriver({ instancesRoot }).start({ ...spec, listeners: [] }, soon());
  const agent = new GuestAgentClient(machine.link);
  await agent.ping({ signal: soon(), deadlineMs: guestUpMs });
  console.log(machine.pid);
  process.stdin.once('data', async (shell) => {
    await agent.exec({ shell: String(shell) }, { detach: true, deadlineMs: guestUpMs, signal: soon() });
    console.log('done');
  });
})().catch((e) => { console.error(e); process.exit(1); });
`;

/** The guest waits until the process is surely dead: it takes a moment from its last word. */
const AFTER_DEATH = { poweroff: 'sleep 2; poweroff' } as const;

/** Starts a machine with a driver in a process of its own, which dies when it is told to. */
export async function startElsewhere(
  instancesRoot: string,
  spec: VmSpec,
  guestUpMs: number,
): Promise<MachineElsewhere> {
  const arguments_ = JSON.stringify([instancesRoot, spec, guestUpMs]);
  const child = spawn(process.execPath, ['-e', PROGRAM, arguments_], { stdio: ['pipe', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => {
    const line = await abortable(lines.next(), AbortSignal.timeout(guestUpMs), 'the other process');
    if (line.done === true) throw kernelError('INTERNAL', 'the other process ended');
    return line.value;
  };
  const pid = Number(await nextLine());
  const die = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
  };
  return {
    pid,
    die,
    endAfterDeath: async (ending) => {
      const qemu = await processIdentity(pid);
      child.stdin?.write(AFTER_DEATH[ending]);
      await nextLine();
      await die();
      if (qemu !== null) await observeGone(qemu, guestUpMs);
    },
  };
}
