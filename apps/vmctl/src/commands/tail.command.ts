import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { MachineView } from '@inquest/contracts-vm';
import { delay } from '@inquest/kernel';
import type { CliContext, ContextOf } from '../context';
import { cliError } from '../errors';
import { EXIT } from '../exit-codes';
import { isAbsence } from '../run/long-poll';
import { followTail } from '../run/tail-stream';
import { examples } from './examples';
import { MACHINE_ARGUMENT } from './machine.commands';
import { wholeNumber } from './option-values';

/** One stream of a file that is followed; then another goes on where it ended. */
const FOLLOW_IDLE_MS = 600_000;
/** Before the platform, or a file that was replaced, is asked again. */
const RETRY_PAUSE_MS = 500;

interface TailOptions {
  readonly from: number;
  readonly follow?: boolean | undefined;
}

/** `tail`: a file of a machine, from an offset on. */
export function addTailCommand(program: CommandUnknownOpts, context: ContextOf): void {
  program
    .command('tail')
    .argument('<machine>', MACHINE_ARGUMENT)
    .argument('<path>', 'absolute path of a file in the guest')
    .option('--from <offset>', 'first byte wanted', wholeNumber, 0)
    .option('--follow', 'wait for more until the machine ends, or Ctrl-C')
    .description('print a file of a machine from an offset on, and say where to go on')
    .addHelpText(
      'after',
      examples(
        ['vmctl tail box /var/log/messages', 'what there is'],
        ['vmctl tail --follow box /tmp/build.log', 'as it grows'],
        ['vmctl tail --from 4096 box /tmp/build.log', 'what came since'],
      ),
    )
    .action((machine, path, options) => tail(context(), machine, path, options));
}

async function tail(context: CliContext, idOrName: string, path: string, options: TailOptions): Promise<void> {
  const { gateway, printer, signal } = context;
  if (printer.json) {
    throw cliError(
      'CLI_USAGE_INVALID',
      'a file is no JSON document: leave --json out; the offset goes to standard error',
    );
  }
  const machine = await gateway.call(MachineView, 'GET', `/v1/machines/${encodeURIComponent(idOrName)}`);
  let { from: offset } = options;
  try {
    for (;;) {
      offset = await readOn(context, machine, path, offset, options.follow === true);
      if (options.follow !== true || !(await isRunning(context, machine))) break;
    }
  } catch (e) {
    if (!signal.aborted) throw e;
    context.exit(EXIT.interrupted);
  }
  printer.note(
    `vmctl: ended at offset ${offset}; go on with: vmctl tail --from ${offset} ${machine.machineId} ${path}`,
  );
}

/** One stream; where it ended. While it is followed, a platform that is away is waited for. */
async function readOn(
  { gateway, stdout, signal }: CliContext,
  { machineId, incarnation }: MachineView,
  path: string,
  fromOffset: number,
  follow: boolean,
): Promise<number> {
  const query = { path, fromOffset, incarnation, idleMs: follow ? FOLLOW_IDLE_MS : 0 };
  try {
    const stream = await gateway.stream('GET', `/v1/machines/${machineId}/tail`, { query });
    const { offset, isWhole } = await followTail(stream, stdout, fromOffset, signal);
    // A file that became shorter ends at 0, at once, for as long as it is written anew.
    if (follow && (!isWhole || offset < fromOffset)) await delay(RETRY_PAUSE_MS, signal);
    return offset;
  } catch (e) {
    if (!follow || !isAbsence(e)) throw e;
    await delay(RETRY_PAUSE_MS, signal);
    return fromOffset;
  }
}

async function isRunning({ gateway }: CliContext, { machineId, incarnation }: MachineView): Promise<boolean> {
  const now = await gateway.call(MachineView, 'GET', `/v1/machines/${machineId}`);
  return now.incarnation === incarnation && now.state !== 'ended' && now.state !== 'ending';
}
