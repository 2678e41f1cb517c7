import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { VerdictReport } from '@inquest/contracts-vm';
import { BUNDLE_FILES, drawVerdict, parseEvidence, type BundleContent, type Verdict } from '@inquest/verdict-engine';
import type { CliContext, ContextOf } from '../context';
import { cliError } from '../errors';
import { verdictText } from '../output/verdict-text';
import { examples } from './examples';
import { MACHINE_ARGUMENT } from './machine.commands';
import { wholeNumber } from './option-values';

interface VerdictOptions {
  readonly incarnation?: number | undefined;
  readonly bundle?: string | undefined;
}

/** `verdict`: how a machine ended, asked of the platform or drawn offline from a bundle. */
export function addVerdictCommand(program: CommandUnknownOpts, context: ContextOf): void {
  program
    .command('verdict')
    .argument('[machine]', MACHINE_ARGUMENT)
    .option('--incarnation <number>', 'an earlier one', wholeNumber)
    .option('--bundle <directory>', 'draw it offline from a stored evidence bundle')
    .description('say how a machine ended, with the evidence that decided it')
    .addHelpText(
      'after',
      examples(
        ['vmctl verdict box', 'provisional while the machine lives'],
        ['vmctl verdict --bundle $INQUEST_HOME/evidence/<machine>/<incarnation>', 'needs no platform'],
      ),
    )
    .action((machine, options) => verdict(context(), machine, options));
}

async function verdict(
  { gateway, printer }: CliContext,
  machine: string | undefined,
  options: VerdictOptions,
): Promise<void> {
  const { bundle, incarnation = null } = options;
  if (bundle !== undefined && machine === undefined) {
    const drawn = await verdictOfBundle(bundle);
    printer.result(drawn, () => verdictText(drawn));
    return;
  }
  if (machine === undefined || bundle !== undefined) {
    throw cliError('CLI_USAGE_INVALID', 'name either a machine or a --bundle directory');
  }
  const path = `/v1/machines/${encodeURIComponent(machine)}/verdict`;
  const report = await gateway.call(VerdictReport, 'GET', path, { query: { incarnation } });
  printer.result(report, () => {
    const standing = report.isProvisional ? ' (provisional: not concluded yet)' : '';
    return `${report.machineId}, incarnation ${report.incarnation}${standing}\n${verdictText(report.verdict)}`;
  });
}

/** The verdict on a stored bundle; needs no platform. Throws `CLI_FILE_UNREADABLE`, and `EVIDENCE_*` for what is no evidence. */
export async function verdictOfBundle(directory: string): Promise<Verdict> {
  const files = await Promise.all(
    Object.values(BUNDLE_FILES).map(async (file) => [file, await readOrNull(path.join(directory, file))] as const),
  );
  const content = Object.fromEntries(files.filter(([, bytes]) => bytes !== null)) as BundleContent;
  if (Object.keys(content).length === 0) {
    throw cliError('CLI_FILE_UNREADABLE', `${directory} holds no evidence bundle`, { directory });
  }
  return drawVerdict(parseEvidence(content));
}

async function readOrNull(file: string): Promise<Uint8Array | null> {
  try {
    return await readFile(file);
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw cliError('CLI_FILE_UNREADABLE', `${file} cannot be read`, { file }, e);
  }
}
