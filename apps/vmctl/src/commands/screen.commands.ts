import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { InputView } from '@inquest/contracts-vm';
import type { CliContext, ContextOf } from '../context';
import { takeShot } from '../run/take-shot';
import { examples } from './examples';
import { MACHINE_ARGUMENT } from './machine.commands';
import { wholeNumber } from './option-values';

/** `shot|screen`: the screen of a machine that has one, its pointer and its keyboard. */
export function addScreenCommands(program: CommandUnknownOpts, context: ContextOf): void {
  program
    .command('shot')
    .argument('<machine>', `${MACHINE_ARGUMENT}; or the id of a session, whose transcript then tells of it`)
    .option('-o, --output <file>', 'where the PNG goes; "-" is standard output')
    .description('take a picture of the screen of a machine that has one')
    .addHelpText('after', examples(['vmctl shot desk -o desk.png', 'the machine was started with --screen']))
    .action((machine, { output }) => takeShot(context(), machine, output ?? null));
  const screen = program
    .command('screen')
    .description('use the pointer and the keyboard of a machine that has a screen')
    .addHelpText(
      'after',
      examples(
        ["vmctl screen type desk 'ls -l' && vmctl screen key desk enter", 'as a person at the machine would'],
        ['vmctl screen click desk 400 300 --times 2', 'pixels as in a picture of `vmctl shot`'],
      ),
    );
  screen
    .command('click')
    .argument('<machine>', MACHINE_ARGUMENT)
    .argument('<x>', 'pixels from the left, as in a picture of the screen', wholeNumber)
    .argument('<y>', 'pixels from the top', wholeNumber)
    .option('--button <button>', 'left, middle or right', 'left')
    .option('--times <count>', '2 is a double click', wholeNumber, 1)
    .description('move the pointer and click')
    .action((machine, x, y, options) => send(context(), machine, 'click', { x, y, ...options }));
  screen
    .command('type')
    .argument('<machine>', MACHINE_ARGUMENT)
    .argument('<text>', 'characters of a US keyboard, at most 1024')
    .description('type a text')
    .action((machine, text) => send(context(), machine, 'type', { text }));
  screen
    .command('key')
    .argument('<machine>', MACHINE_ARGUMENT)
    .argument('<keys>', 'such as enter, f5 or ctrl+alt+delete')
    .description('press keys together')
    .action((machine, keys) => send(context(), machine, 'keys', { keys }));
  screen
    .command('scroll')
    .argument('<machine>', MACHINE_ARGUMENT)
    .argument('<direction>', 'up or down')
    .option('--steps <count>', 'steps of the wheel', wholeNumber, 3)
    .option('--x <pixels>', 'together with --y: where the pointer goes first', wholeNumber)
    .option('--y <pixels>', 'pixels from the top', wholeNumber)
    .description('turn the wheel')
    .action((machine, direction, { steps, x, y }) =>
      send(context(), machine, 'scroll', { direction, steps, x: x ?? null, y: y ?? null }),
    );
}

interface InputOptions {
  readonly [option: string]: unknown;
}

/** Without `json`, which is vmctl's own. */
async function send(
  { gateway, printer }: CliContext,
  machine: string,
  verb: string,
  { json: _json, ...body }: InputOptions,
): Promise<void> {
  const path = `/v1/machines/${encodeURIComponent(machine)}/screen/${verb}`;
  const sent = await gateway.call(InputView, 'POST', path, { body });
  printer.result(sent, () => `sent to ${sent.machineId}; see what came of it with: vmctl shot ${machine}`);
}
