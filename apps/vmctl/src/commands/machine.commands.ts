import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { DestroyedView, MachineList, MachineView } from '@inquest/contracts-vm';
import type { CliContext, ContextOf } from '../context';
import { givenLines, machineLine } from '../output/machine-line';
import { age } from '../output/phrases';
import { verdictText } from '../output/verdict-text';
import { awaitReady } from '../run/await-ready';
import { copy } from '../run/copy';
import { guestMetrics, metricsLine } from '../run/guest-metrics';
import { examples } from './examples';

/** How a machine is named in every command; listed with the arguments of its help. */
export const MACHINE_ARGUMENT = 'name or id; a name means the live machine that has it, else the last that had it';

/** `ls|show|cp|reset|rm`: machines. */
export function addMachineCommands(program: CommandUnknownOpts, context: ContextOf): void {
  program
    .command('ls')
    .option('--all', 'also those that have ended')
    .description('list machines')
    .action(({ all }) => list(context(), all === true));
  program
    .command('show')
    .argument('<machine>', MACHINE_ARGUMENT)
    .description('show one machine: how busy it is, or its verdict when it has ended')
    .action((machine) => show(context(), machine));
  program
    .command('cp')
    .argument('<from>', 'path, or machine:/path')
    .argument('<to>', 'path, or machine:/path')
    .description('copy a file or directory to or from a machine')
    .addHelpText(
      'after',
      examples(
        ['vmctl cp setup.sh box:/root/', 'into the directory'],
        ['vmctl cp ./site box:/srv/site', 'a directory with all that is in it'],
        ['vmctl cp box:/var/log/messages .', 'out of the machine'],
      ),
    )
    .action((from, to) => copy(context(), from, to));
  program
    .command('reset')
    .argument('<machine>', MACHINE_ARGUMENT)
    .option('--no-wait', 'do not wait until the guest agent answers')
    .description('kill it, wait until it is seen gone, and start it afresh on a new overlay')
    .action((machine, options) => reset(context(), machine, options.wait));
  program
    .command('rm')
    .argument('<machine...>', MACHINE_ARGUMENT)
    .description('end and remove machines in whatever state; their evidence stays')
    .action((machines) => remove(context(), machines));
}

async function list({ gateway, printer }: CliContext, all: boolean): Promise<void> {
  const machines = await gateway.call(MachineList, 'GET', '/v1/machines', { query: { all } });
  const now = Date.now();
  printer.list(
    machines,
    ['MACHINE', 'NAME', 'IMAGE', 'STATE', 'REASON', 'MEMORY', 'AGE', 'LAST SEEN', 'FOR'],
    machines.items.map((m) => [
      m.machineId,
      m.name ?? '-',
      `${m.image}:${m.version}`,
      m.state,
      m.reason,
      `${m.memoryMib} MiB`,
      age(m.createdAtMs, now),
      m.lastSeenAtMs === null ? '-' : `${age(m.lastSeenAtMs, now)} ago`,
      m.owner ?? '-',
    ]),
    all
      ? 'there has been no machine yet; start one with: vmctl new <image> --name <name>'
      : 'no machine runs; start one with: vmctl new <image> --name <name> (ended ones: vmctl ls --all)',
  );
}

async function show(context: CliContext, machine: string): Promise<void> {
  const { gateway, printer } = context;
  const found = await gateway.call(MachineView, 'GET', `/v1/machines/${encodeURIComponent(machine)}`);
  const metrics = await guestMetrics(context, found);
  printer.result({ ...found, metrics }, () =>
    [
      machineLine(found),
      ...givenLines(found),
      ...(metrics === null ? [] : [metricsLine(metrics)]),
      ...(found.verdict === null ? [] : [verdictText(found.verdict)]),
    ].join('\n'),
  );
}

async function reset(context: CliContext, machine: string, wait: boolean): Promise<void> {
  const { gateway, printer } = context;
  const started = await gateway.call(MachineView, 'POST', `/v1/machines/${encodeURIComponent(machine)}/reset`, {
    body: {},
  });
  const fresh = wait ? await awaitReady(context, started) : started;
  printer.result(fresh, () => machineLine(fresh));
}

async function remove({ gateway, printer }: CliContext, machines: readonly string[]): Promise<void> {
  const removed: DestroyedView[] = [];
  for (const machine of machines) {
    removed.push(await gateway.call(DestroyedView, 'DELETE', `/v1/machines/${encodeURIComponent(machine)}`));
  }
  printer.result({ items: removed }, () =>
    removed
      .map(({ machineId, killed, directoryRemoved }) => {
        const seen = [killed ? 'no process left' : 'STILL RUNNING', directoryRemoved ? 'files removed' : 'FILES LEFT'];
        return `${machineId}: ${seen.join(', ')}`;
      })
      .join('\n'),
  );
}
