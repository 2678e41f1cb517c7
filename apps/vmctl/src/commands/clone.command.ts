import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { MachineView } from '@inquest/contracts-vm';
import type { CliContext, ContextOf } from '../context';
import { machineLine } from '../output/machine-line';
import { awaitReady } from '../run/await-ready';
import { examples } from './examples';
import { MACHINE_ARGUMENT } from './machine.commands';

/** `clone`: copies a machine while it runs. */
export function addCloneCommand(program: CommandUnknownOpts, context: ContextOf): void {
  program
    .command('clone')
    .argument('<machine>', MACHINE_ARGUMENT)
    .option('--name <name>', 'a name for the copy')
    .option('--no-wait', 'do not wait until the copy answers')
    .description(
      'copy a machine while it runs: what runs in it runs on in both; a reset of the copy starts from the image',
    )
    .addHelpText('after', examples(['vmctl clone box --name twin', 'try something there, and keep box as it is']))
    .action((machine, { name, wait }) => clone(context(), machine, name ?? null, wait));
}

async function clone(context: CliContext, machine: string, name: string | null, wait: boolean): Promise<void> {
  const { gateway, printer } = context;
  const route = `/v1/machines/${encodeURIComponent(machine)}/clone`;
  const started = await gateway.call(MachineView, 'POST', route, { body: { name } });
  const copy = wait ? await awaitReady(context, started) : started;
  printer.result(copy, () => machineLine(copy));
}
