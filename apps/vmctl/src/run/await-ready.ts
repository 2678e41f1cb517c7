import { MachineView, vmError } from '@inquest/contracts-vm';
import type { CliContext } from '../context';
import { longPoll, WAIT_MS } from './long-poll';

/** The machine once its guest agent answers. Throws `MACHINE_BOOT_FAILED` with what the platform says when it ended instead. */
export async function awaitReady(context: CliContext, started: MachineView): Promise<MachineView> {
  const { machineId } = started;
  context.printer.note(`  booting ${machineId}`);
  const machine = await longPoll(
    context,
    MachineView,
    `/v1/machines/${machineId}/wait`,
    () => ({ state: ['ready', 'ended'], waitMs: WAIT_MS }),
    ({ state }) => state === 'ready' || state === 'ended',
  ).catch((e: unknown) => {
    if (context.signal.aborted)
      context.printer.note(`vmctl: ${machineId} goes on starting; end it with: vmctl rm ${machineId}`);
    throw e;
  });
  if (machine.state === 'ready') return machine;
  throw vmError('MACHINE_BOOT_FAILED', `machine ${machineId} ended (${machine.reason}): ${machine.message}`, {
    machine: machineId,
    reason: machine.reason,
  });
}
