import path from 'node:path';
import { InvalidArgumentError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { MachineView, type ShareWish } from '@inquest/contracts-vm';
import type { CliContext, ContextOf } from '../context';
import { linkNotes } from '../output/link-notes';
import { copy, sendDirectory } from '../run/copy';
import { examples } from './examples';
import { MACHINE_ARGUMENT } from './machine.commands';

/** Where a guest has a directory that was given without a place. */
const DEFAULT_PARENT = '/mnt';

/** `share|unshare`: directories of this host for machines. */
export function addShareCommands(program: CommandUnknownOpts, context: ContextOf): void {
  program
    .command('share')
    .argument('<machine>', MACHINE_ARGUMENT)
    .argument(
      '<directory>',
      `DIRECTORY[:PLACE IN THE GUEST]; the place is ${DEFAULT_PARENT}/NAME when left out`,
      placed,
    )
    .option('--copy', 'put a copy into the machine now, which it may write; else it reads the directory itself')
    .description('give a machine a directory: to read, after its next reset, or as a copy at once')
    .addHelpText(
      'after',
      examples(
        ['vmctl share box ./docs:/srv/docs && vmctl reset box', 'the machine reads the directory, never writes it'],
        ['vmctl share box ./site --copy', `a copy at ${DEFAULT_PARENT}/site; bring it back with: vmctl unshare --to`],
      ),
    )
    .action((machine, wish, options) => share(context(), machine, wish, options.copy === true));
  program
    .command('unshare')
    .argument('<machine>', MACHINE_ARGUMENT)
    .argument('<place>', 'where the guest has it')
    .option('--to <directory>', 'first copy what the guest has there into this directory')
    .description('take a directory away from a machine, from its next reset on; or bring a copy back')
    .addHelpText('after', examples([`vmctl unshare box ${DEFAULT_PARENT}/site --to ./site-of-box`, '']))
    .action((machine, place, { to }) => unshare(context(), machine, place, to ?? null));
}

/** `DIRECTORY[:PLACE]` with the directory made absolute. */
export function placed(value: string): ShareWish {
  const [, directory = '', guestPath] = /^(.+?)(?::(\/.*))?$/s.exec(value) ?? [];
  if (directory === '') throw new InvalidArgumentError('It must be a directory of this host.');
  const absolute = path.resolve(directory);
  return { directory: absolute, guestPath: guestPath ?? path.posix.join(DEFAULT_PARENT, path.basename(absolute)) };
}

async function share(context: CliContext, idOrName: string, wish: ShareWish, isCopy: boolean): Promise<void> {
  const { gateway, printer } = context;
  const { directory, guestPath } = wish;
  if (isCopy) {
    await sendDirectory(context, directory, idOrName, guestPath);
    return printer.result({ ...wish, isCopy }, () => `copied ${directory} to ${idOrName}:${guestPath}`);
  }
  const route = `/v1/machines/${encodeURIComponent(idOrName)}/shares`;
  const machine = await gateway.call(MachineView, 'POST', route, { body: wish });
  for (const note of linkNotes(machine.shares.filter((other) => other.guestPath === guestPath))) printer.note(note);
  printer.result(machine, () => `${idOrName} has it at ${guestPath} after: vmctl reset ${idOrName}`);
}

async function unshare(context: CliContext, idOrName: string, place: string, to: string | null): Promise<void> {
  const { gateway, printer } = context;
  const route = `/v1/machines/${encodeURIComponent(idOrName)}`;
  const found = await gateway.call(MachineView, 'GET', route);
  if (to !== null) await copy(context, `${idOrName}:${place}`, to);
  // What is no share is a copy, and that has been brought back.
  if (to !== null && !found.shares.some(({ guestPath }) => guestPath === place)) return;
  const machine = await gateway.call(MachineView, 'DELETE', `${route}/shares`, { query: { guestPath: place } });
  printer.result(machine, () => `${idOrName} is rid of ${place} after: vmctl reset ${idOrName}`);
}
