import { MachineView, vmError } from '@inquest/contracts-vm';
import type { CliContext } from '../context';

/** One long poll for a machine's state. */
const WAIT_MS = 20_000;

/** The machine once its guest agent answers. Throws `MACHINE_BOOT_FAILED` with what the platform says when it ended instead. */
export async function awaitReady({ gateway, printer, signal }: CliContext, started: MachineView): Promise<MachineView> {
  let machine = started;
  if (machine.state !== 'ready') printer.note(`  booting ${machine.machineId}`);
  while (machine.state !== 'ready') {
    if (machine.state === 'ended') {
      throw vmError('MACHINE_BOOT_FAILED', `machine ${machine.machineId} ended (${machine.reason}): ${machine.message}`, {
        machine: machine.machineId,
        reason: machine.reason,
      });
    }
    signal.throwIfAborted();
    machine = await gateway.call(MachineView, 'GET', `/v1/machines/${machine.machineId}/wait`, {
      query: { state: ['ready', 'ended'], waitMs: WAIT_MS },
      signal,
    });
  }
  return machine;
}
