import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { GROUP_SIZE, MachineList, MachineView, type ShareWish } from '@inquest/contracts-vm';
import type { CliContext, ContextOf } from '../context';
import { cliError } from '../errors';
import { linkNotes } from '../output/link-notes';
import { machineLine } from '../output/machine-line';
import { awaitReady } from '../run/await-ready';
import { sendDirectory } from '../run/copy';
import { examples } from './examples';
import { collected, instant, NO_HOSTS, wholeNumber } from './option-values';
import { placed } from './share.commands';

/** `new`: starts machines. */
export function addNewCommand(program: CommandUnknownOpts, context: ContextOf): void {
  program
    .command('new')
    .argument('<image>', 'name, or name:version')
    .option('--name <name>', 'a name to type instead of the id')
    .option('--group <name>', 'several machines, wired together and to nothing else, called NAME-1, NAME-2, ...')
    .option('--count <count>', `how many machines a group has, at most ${GROUP_SIZE.max}`, wholeNumber)
    .option('--memory <MiB>', 'memory of the machine', wholeNumber)
    .option('--cpus <count>', 'virtual processors', wholeNumber)
    .option('--screen', 'with a screen, a pointer and a keyboard, also where the image has none')
    .option('--rtc <time>', 'what its clock shows when it starts, and after each reset: 2024-02-29T12:00:00Z', instant)
    .option('--allow-host <host>', 'a host that it may reach by HTTPS; may be repeated', collected, NO_HOSTS)
    .option('--local-model', "with a way to this host's model, at 127.0.0.1:11434 in the machine")
    .option(
      '--share <directory[:place]>',
      'a directory that it reads, never writes; may be repeated',
      collectedPlaced,
      [],
    )
    .option('--copy <directory[:place]>', 'a directory that it gets a copy of; may be repeated', collectedPlaced, [])
    .option('--maintenance', 'on the open working copy of an unfrozen image; what it writes is kept')
    .option('--no-wait', 'do not wait until the guest agent answers')
    .description('start a machine on a frozen image')
    .addHelpText(
      'after',
      examples(
        ['vmctl new tiny --name box', 'on the newest frozen version'],
        ['vmctl new tiny:3 --memory 512', 'on a version of your choice'],
        ['vmctl new tiny --name leap --rtc 2024-02-29T23:59:50Z', 'ten seconds before a day that few programs know'],
        ['vmctl new tiny --name reader --share ./docs:/srv/docs', 'it reads ./docs of this host and cannot change it'],
        ['vmctl new tiny --group lab --count 2', 'lab-1 has 10.190.239.1, lab-2 has 10.190.239.2'],
        ['vmctl new tiny --name desk --screen', 'see it with: vmctl shot desk'],
      ),
    )
    .action((image, options) => create(context(), image, options));
}

interface NewOptions {
  readonly name?: string | undefined;
  readonly group?: string | undefined;
  readonly count?: number | undefined;
  readonly memory?: number | undefined;
  readonly cpus?: number | undefined;
  readonly screen?: boolean | undefined;
  readonly rtc?: number | undefined;
  readonly allowHost: readonly string[];
  readonly localModel?: boolean | undefined;
  readonly share: readonly ShareWish[];
  readonly copy: readonly ShareWish[];
  readonly maintenance?: boolean | undefined;
  readonly wait: boolean;
}

const collectedPlaced = (value: string, earlier: readonly ShareWish[]): readonly ShareWish[] => [
  ...earlier,
  placed(value),
];

async function create(context: CliContext, image: string, options: NewOptions): Promise<void> {
  checkTogether(options);
  const { gateway, printer } = context;
  const machine = requestOf(image, options);
  if (options.group === undefined) {
    const ready = await whenReady(
      context,
      await gateway.call(MachineView, 'POST', '/v1/machines', { body: machine }),
      options,
    );
    return printer.result(ready, () => machineLine(ready));
  }
  const { group, count = GROUP_SIZE.default } = options;
  const { items } = await gateway.call(MachineList, 'POST', '/v1/groups', { body: { group, count, machine } });
  const ready: MachineView[] = [];
  for (const started of items) ready.push(await whenReady(context, started, options));
  printer.result({ items: ready }, () => ready.map(machineLine).join('\n'));
}

function checkTogether({ group, count, name, copy, wait }: NewOptions): void {
  if (copy.length > 0 && !wait) {
    throw cliError('CLI_USAGE_INVALID', '--copy needs a machine that is ready, so it does not go with --no-wait');
  }
  if (group === undefined ? count !== undefined : name !== undefined) {
    throw cliError('CLI_USAGE_INVALID', '--count goes with --group, which names its machines itself');
  }
}

/** The machine as it was asked for, with its copies in it; as it is when nobody waits. */
async function whenReady(context: CliContext, started: MachineView, { wait, copy }: NewOptions): Promise<MachineView> {
  for (const note of linkNotes(started.shares)) context.printer.note(note);
  if (!wait) return started;
  const machine = await awaitReady(context, started);
  for (const { directory, guestPath } of copy) await sendDirectory(context, directory, machine.machineId, guestPath);
  return machine;
}

function requestOf(imageAndVersion: string, options: NewOptions): object {
  const [, image = imageAndVersion, version] = /^(.*?)(?::(\d+))?$/.exec(imageAndVersion) ?? [];
  return {
    image,
    version: version === undefined ? null : Number(version),
    name: options.name ?? null,
    memoryMib: options.memory ?? null,
    cpus: options.cpus ?? null,
    screen: options.screen === true,
    rtcBaseMs: options.rtc ?? null,
    shares: options.share,
    allowedHosts: options.allowHost,
    localModel: options.localModel === true,
    isMaintenance: options.maintenance === true,
  };
}
