import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { Option, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { parseDto } from '@inquest/config';
import {
  ImageDiffView,
  ImageVersionView,
  ImageView,
  IMPORT_FORMATS,
  type ImportFormat,
} from '@inquest/contracts-image';
import { OperationView } from '@inquest/contracts-base';
import type { CliContext, ContextOf } from '../context';
import { cliError } from '../errors';
import { cancelOperation, followOperation, operationText } from '../run/follow-operation';
import { examples } from './examples';
import { imagePath, namedVersion, nameAndVersion } from './image-name';
import { wholeNumber } from './option-values';

const BYTES_PER_MIB = 1024 * 1024;

interface ImportOptions {
  readonly format: ImportFormat;
  readonly sha256?: string | undefined;
  readonly remote?: boolean | undefined;
  readonly disk?: number | undefined;
  readonly memory?: number | undefined;
  readonly requiredCli?: string | undefined;
}

/** `image import|unfreeze|discard|retire|rm|diff|cancel`: what happens to images after their first build. */
export function addImageLifeCommands(image: CommandUnknownOpts, context: ContextOf): void {
  addImportCommand(image, context);
  image
    .command('unfreeze')
    .argument('<image>', 'name, or name:version')
    .requiredOption('--reason <text>', 'why, for those who find the image unfrozen')
    .description('open a writable working copy of a frozen version; freezing it makes the next version')
    .addHelpText(
      'after',
      examples(
        ['vmctl image unfreeze debian --reason "add git-lfs"', 'then: vmctl new debian --maintenance --name m'],
        ['vmctl run m "apt-get install -y git-lfs" && vmctl run m poweroff', 'what it changed is kept at power-off'],
        ['vmctl image freeze debian', 'the next version'],
      ),
    )
    .action((spec, { reason }) => unfreeze(context(), spec, reason));
  image
    .command('discard')
    .argument('<image>', 'name')
    .description('give up the open working copy of an image')
    .action((name) => discard(context(), name));
  image
    .command('retire')
    .argument('<version>', 'name:version')
    .description('let nothing start on a frozen version any more; its files stay')
    .action((spec) => endVersion(context(), spec, 'retire'));
  image
    .command('rm')
    .argument('<version>', 'name:version')
    .description('remove the files of a version that is not frozen; refused while anything stands on it')
    .action((spec) => endVersion(context(), spec, 'rm'));
  image
    .command('diff')
    .argument('<image>', 'name')
    .argument('<from>', 'number of a version', wholeNumber)
    .argument('<to>', 'number of another', wholeNumber)
    .description('show the packages and files that differ between two versions')
    .action((name, from, to) => diff(context(), name, from, to));
  image
    .command('cancel')
    .argument('<operation>', 'id of an operation')
    .description('stop a build, import, freeze or verification')
    .action(async (operation) => {
      const { printer } = context();
      const view = await cancelOperation(context(), operation);
      printer.result(view, () => operationText(view));
    });
}

function addImportCommand(image: CommandUnknownOpts, context: ContextOf): void {
  image
    .command('import')
    .argument('<image>', 'name of the image to make the next version of')
    .argument('<source>', 'a file of this host; with --remote, a path in the import directory of image-service')
    .addOption(new Option('--format <format>', 'what the source is').choices(IMPORT_FORMATS).makeOptionMandatory())
    .option('--sha256 <hex>', 'the digest that its publisher names; of an OCI layout, that of the image manifest')
    .option('--remote', 'the source is in the import directory of image-service')
    .option(
      '--disk <MiB>',
      'size of the disk that is made of a tar or an OCI layout; a disk keeps its own',
      wholeNumber,
    )
    .option('--memory <MiB>', 'memory of machines that ask for none', wholeNumber)
    .option('--required-cli <command>', 'the command that proves the agent command line it must contain')
    .description('make the next version of a disk, a root tar or an OCI layout that somebody else built')
    .addHelpText(
      'after',
      examples(
        ['vmctl image import cloud disk.qcow2 --format qcow2 --sha256 9f86...', 'checked against the digest'],
        ['vmctl image import cloud root.tar.gz --format tar', 'without one, the digest of the file as it is here'],
      ),
    )
    .action((name, source, options) => importImage(context(), name, source, options));
}

async function importImage(context: CliContext, name: string, source: string, options: ImportOptions): Promise<void> {
  const { gateway, printer, signal } = context;
  const digest = options.sha256 ?? (await digestHere(source, options));
  const declaration = {
    format: options.format,
    digest: digest.startsWith('sha256:') ? digest : `sha256:${digest}`,
    ...(options.disk === undefined ? {} : { diskBytes: options.disk * BYTES_PER_MIB }),
    ...(options.memory === undefined ? {} : { memoryMib: options.memory }),
    ...(options.requiredCli === undefined ? {} : { requiredCli: options.requiredCli }),
  };
  const path = `${imagePath(name)}/import`;
  let started: OperationView;
  if (options.remote === true) {
    started = await gateway.call(OperationView, 'POST', path, { body: { ...declaration, path: source } });
  } else {
    const answer = await gateway.stream('PUT', path, { query: declaration, signal }, createReadStream(source));
    started = parseDto(OperationView, JSON.parse(await text(answer)), { unknown: 'strip' });
  }
  const operation = await followOperation(context, started);
  printer.result(operation, () => `${operationText(operation)}; freeze it: vmctl image freeze ${operation.subject}`);
}

/** Says nothing about where the file comes from, only that it arrives as it is here. */
async function digestHere(source: string, { format, remote }: ImportOptions): Promise<string> {
  if (remote === true || format === 'oci') {
    throw cliError('CLI_USAGE_INVALID', 'the digest of this source cannot be found here; name it with --sha256');
  }
  const found = await stat(source).catch((e: unknown) => {
    throw cliError('CLI_USAGE_INVALID', `${source} cannot be read`, { path: source }, e);
  });
  if (!found.isFile()) throw cliError('CLI_USAGE_INVALID', `${source} is no file`, { path: source });
  const hash = createHash('sha256');
  await pipeline(createReadStream(source), hash);
  return hash.digest('hex');
}

async function unfreeze(context: CliContext, spec: string, reason: string): Promise<void> {
  const { gateway, printer } = context;
  const [name, version] = nameAndVersion(spec);
  const body = { version, reason };
  const started = await gateway.call(OperationView, 'POST', `${imagePath(name)}/unfreeze`, { body });
  const operation = await followOperation(context, started);
  printer.result(operation, () =>
    [
      operationText(operation),
      `image ${name} is unfrozen: sessions that name no version are refused until it is frozen or discarded`,
    ].join('\n'),
  );
}

async function discard({ gateway, printer }: CliContext, name: string): Promise<void> {
  const { versions } = await gateway.call(ImageView, 'GET', imagePath(name));
  const copy = versions.find(({ state }) => state === 'unfrozen');
  if (copy === undefined) throw cliError('CLI_USAGE_INVALID', `image ${name} has no open working copy`);
  const removed = await gateway.call(ImageVersionView, 'DELETE', `${imagePath(name)}/versions/${copy.version}`);
  printer.result(removed, () => `${name}:${removed.version}: ${removed.message}`);
}

async function endVersion({ gateway, printer }: CliContext, spec: string, verb: 'retire' | 'rm'): Promise<void> {
  const [name, version] = namedVersion(spec);
  const path = `${imagePath(name)}/versions/${version}`;
  const view =
    verb === 'retire'
      ? await gateway.call(ImageVersionView, 'POST', `${path}/retire`, { body: {} })
      : await gateway.call(ImageVersionView, 'DELETE', path);
  printer.result(view, () => `${name}:${version}: ${view.message}`);
}

async function diff({ gateway, printer }: CliContext, name: string, from: number, to: number): Promise<void> {
  const view = await gateway.call(ImageDiffView, 'GET', `${imagePath(name)}/diff`, {
    query: { from, to },
    timeoutMs: DIFF_TIMEOUT_MS,
  });
  const { packages, files, isCut } = view;
  printer.result(view, () =>
    [
      packages.length === 0
        ? 'no package differs'
        : printer.table(['PACKAGE', `${from}`, `${to}`], packages.map(packageRow)),
      '',
      files.length === 0 ? 'no file differs' : printer.table(['FILE', 'CHANGE', 'DETAIL'], files.map(fileRow)),
      ...(isCut ? ['', 'there are more changes than are listed here'] : []),
    ].join('\n'),
  );
}

/** Both disks are read for it. */
const DIFF_TIMEOUT_MS = 300_000;

const packageRow = ({ name, from, to }: ImageDiffView['packages'][number]): string[] => [name, from ?? '-', to ?? '-'];
const fileRow = ({ path, change, detail }: ImageDiffView['files'][number]): string[] => [path, change, detail];
