import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { DestroyedView, MachineList, MachineView, VerdictReport } from '@inquest/contracts-vm';
import { BUNDLE_FILES, drawVerdict, parseEvidence, type BundleContent, type Verdict } from '@inquest/verdict-engine';
import type { CliContext, ContextOf } from '../context';
import { cliError } from '../errors';
import { age } from '../output/phrases';
import { verdictText } from '../output/verdict-text';
import { copy } from '../run/copy';
import { awaitReady } from '../run/await-ready';

const wholeNumber = (value: string): number => {
  const number = Number(value);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw cliError('CLI_USAGE_INVALID', `"${value}" is not a whole number`);
};

/** `new|ls|show|cp|reset|rm|verdict`: machines. */
export function addMachineCommands(program: CommandUnknownOpts, context: ContextOf): void {
  program
    .command('new')
    .argument('<image>', 'name, or name:version')
    .option('--name <name>', 'a name to type instead of the id')
    .option('--memory <MiB>', 'memory of the machine', wholeNumber)
    .option('--cpus <count>', 'virtual processors', wholeNumber)
    .option('--no-wait', 'do not wait until the guest agent answers')
    .description('start a machine on a frozen image')
    .action((image, options) => create(context(), image, options));
  program
    .command('ls')
    .option('--all', 'also those that have ended')
    .description('list machines')
    .action(({ all }) => list(context(), all === true));
  program
    .command('show')
    .argument('<machine>')
    .description('show one machine')
    .action((machine) => show(context(), machine));
  program
    .command('cp')
    .argument('<from>', 'path, or machine:path')
    .argument('<to>', 'path, or machine:path')
    .description('copy a file or directory to or from a machine')
    .action((from, to) => copy(context(), from, to));
  program
    .command('reset')
    .argument('<machine>')
    .option('--no-wait', 'do not wait until the guest agent answers')
    .description('kill it, wait until it is seen gone, and start it afresh on a new overlay')
    .action((machine, options) => reset(context(), machine, options.wait));
  program
    .command('rm')
    .argument('<machine...>')
    .description('end and remove machines in whatever state; their evidence stays')
    .action((machines) => remove(context(), machines));
  program
    .command('verdict')
    .argument('[machine]')
    .option('--incarnation <number>', 'an earlier one', wholeNumber)
    .option('--bundle <directory>', 'draw it offline from a stored evidence bundle')
    .description('say how a machine ended, with the evidence that decided it')
    .action((machine, options) => verdict(context(), machine, options));
}

interface NewOptions {
  readonly name?: string | undefined;
  readonly memory?: number | undefined;
  readonly cpus?: number | undefined;
  readonly wait: boolean;
}

async function create(context: CliContext, image: string, options: NewOptions): Promise<void> {
  const { gateway, printer } = context;
  const [, name = image, version] = /^(.*?)(?::(\d+))?$/.exec(image) ?? [];
  const started = await gateway.call(MachineView, 'POST', '/v1/machines', {
    body: {
      image: name,
      version: version === undefined ? null : Number(version),
      name: options.name ?? null,
      memoryMib: options.memory ?? null,
      cpus: options.cpus ?? null,
    },
  });
  const machine = options.wait ? await awaitReady(context, started) : started;
  printer.result(machine, () => machineLine(machine));
}

async function list({ gateway, printer }: CliContext, all: boolean): Promise<void> {
  const machines = await gateway.call(MachineList, 'GET', '/v1/machines', { query: { all } });
  const now = Date.now();
  printer.result(machines, () =>
    printer.table(
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
    ),
  );
}

async function show({ gateway, printer }: CliContext, machine: string): Promise<void> {
  const found = await gateway.call(MachineView, 'GET', `/v1/machines/${encodeURIComponent(machine)}`);
  printer.result(found, () => (found.verdict === null ? machineLine(found) : `${machineLine(found)}\n${verdictText(found.verdict)}`));
}

async function reset(context: CliContext, machine: string, wait: boolean): Promise<void> {
  const { gateway, printer } = context;
  const started = await gateway.call(MachineView, 'POST', `/v1/machines/${encodeURIComponent(machine)}/reset`, { body: {} });
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

interface VerdictOptions {
  readonly incarnation?: number | undefined;
  readonly bundle?: string | undefined;
}

async function verdict({ gateway, printer }: CliContext, machine: string | undefined, options: VerdictOptions): Promise<void> {
  if ((machine === undefined) === (options.bundle === undefined)) {
    throw cliError('CLI_USAGE_INVALID', 'name either a machine or a --bundle directory');
  }
  if (options.bundle !== undefined) {
    const drawn = await verdictOfBundle(options.bundle);
    printer.result(drawn, () => verdictText(drawn));
    return;
  }
  const report = await gateway.call(VerdictReport, 'GET', `/v1/machines/${encodeURIComponent(machine ?? '')}/verdict`, {
    query: { incarnation: options.incarnation ?? null },
  });
  printer.result(report, () => {
    const standing = report.isProvisional ? ' (provisional: not concluded yet)' : '';
    return `${report.machineId}, incarnation ${report.incarnation}${standing}\n${verdictText(report.verdict)}`;
  });
}

/** Needs no platform: the bundle is all that a verdict follows from. */
async function verdictOfBundle(directory: string): Promise<Verdict> {
  const files = await Promise.all(
    Object.values(BUNDLE_FILES).map(async (file) => [file, await readOrNull(path.join(directory, file))] as const),
  );
  return drawVerdict(parseEvidence(Object.fromEntries(files.filter(([, content]) => content !== null)) as BundleContent));
}

async function readOrNull(file: string): Promise<Uint8Array | null> {
  try {
    return await readFile(file);
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw cliError('CLI_BUNDLE_UNREADABLE', `${file} cannot be read`, { file }, e);
  }
}

function machineLine({ machineId, name, image, version, state, message, accelerator, memoryMib }: MachineView): string {
  const called = name === null ? machineId : `${name} (${machineId})`;
  return `${called}  ${image}:${version}  ${memoryMib} MiB  ${accelerator}  ${state}: ${message}`;
}
