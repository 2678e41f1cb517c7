import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { ImageList, ImageLogView, ImageVersionDetail, ImageVersionView, ImageView } from '@inquest/contracts-image';
import { OperationView } from '@inquest/contracts-base';
import { printable, printableLine } from '@inquest/transcript';
import type { CliContext, ContextOf } from '../context';
import { aligned } from '../output/aligned';
import { age, size } from '../output/phrases';
import { templateText } from '../output/template-text';
import { followOperation, operationText } from '../run/follow-operation';
import { examples } from './examples';
import { addImageLifeCommands } from './image-life.commands';
import { imagePath, nameAndVersion } from './image-name';

/** `sha256:` and twelve digits: enough to tell versions apart. */
const SHOWN_DIGEST_LENGTH = 19;

type ImageVerb = 'build' | 'freeze' | 'verify' | 'template';

/** `image ls|show|build|freeze|verify|template`, and what `addImageLifeCommands` adds. */
export function addImageCommands(program: CommandUnknownOpts, context: ContextOf): void {
  const image = program.command('image').description('base systems: build, import, freeze, maintain, verify, compare');
  image
    .command('ls')
    .description('list the images and their newest versions')
    .action(() => list(context()));
  image
    .command('show')
    .argument('<image>', 'name, or name:version for its lineage, users and log')
    .description('show every version of an image, its checks and lineage')
    .action((name) => show(context(), name));
  image
    .command('build')
    .argument('<image>', 'name of a recipe')
    .description('build the next version from its recipe')
    .addHelpText('after', examples(['vmctl image build tiny', 'its log: vmctl image show tiny:<version>']))
    .action((name) => operate(context(), 'build', name, null));
  image
    .command('freeze')
    .argument('<image>', 'name, or name:version')
    .description('smoke-boot a built version, checksum it and make it read-only; only then can it start machines')
    .addHelpText(
      'after',
      examples(
        ['vmctl image freeze tiny', 'the newest version that was built'],
        ['vmctl image freeze tiny:3', 'version 3'],
      ),
    )
    .action((name) => operate(context(), 'freeze', ...nameAndVersion(name)));
  image
    .command('verify')
    .argument('<image>', 'name, or name:version')
    .description('read every byte of a frozen version again and compare it with its record')
    .action((name) => operate(context(), 'verify', ...nameAndVersion(name)));
  image
    .command('template')
    .argument('<image>', 'name, or name:version')
    .description(
      'make the template of a frozen version where a node has none that it can use; this happens by itself, too',
    )
    .addHelpText('after', examples(['vmctl image template tiny', 'how it stands: vmctl image show tiny']))
    .action((name) => operate(context(), 'template', ...nameAndVersion(name)));
  addImageLifeCommands(image, context);
}

async function list({ gateway, printer }: CliContext): Promise<void> {
  const images = await gateway.call(ImageList, 'GET', '/v1/images');
  const now = Date.now();
  printer.list(
    images,
    ['IMAGE', 'FROZEN', 'NEWEST', 'STATE', 'SIZE', 'AGE', 'DIGEST'],
    images.items.map((image) => imageRow(image, now)),
    'there is no image and no recipe; recipes are folders below tools/images',
  );
}

function imageRow({ name, frozenVersion, versions }: ImageView, now: number): string[] {
  const newest = versions[0];
  if (!newest) return [name, '-', '-', 'not built', '-', '-', `build it: vmctl image build ${name}`];
  const disk = newest.sizeBytes === null ? '-' : size(newest.sizeBytes);
  const digest = newest.digest?.slice(0, SHOWN_DIGEST_LENGTH) ?? '-';
  return [
    name,
    String(frozenVersion ?? '-'),
    String(newest.version),
    newest.state,
    disk,
    age(newest.createdAtMs, now),
    digest,
  ];
}

async function show({ gateway, printer }: CliContext, spec: string): Promise<void> {
  const [name, version] = nameAndVersion(spec);
  if (version === null) {
    const image = await gateway.call(ImageView, 'GET', imagePath(name));
    printer.result(image, () => describe(printer, image));
    return;
  }
  const detail = await gateway.call(ImageVersionDetail, 'GET', `${imagePath(name)}/versions/${version}`);
  const log = await readLog(gateway, name, version);
  printer.result({ ...detail, log }, () => [describeVersion(printer, detail), '', log].join('\n'));
}

function describeVersion(printer: CliContext['printer'], detail: ImageVersionDetail): string {
  const { version: v, ancestors, children, machines, packages, diskUseBytes, unfreezeReason } = detail;
  const facts: readonly (readonly [string, string])[] = [
    ['version', `${v.name}:${v.version}`],
    ['state', v.message === v.state ? v.state : `${v.state}: ${v.message}`],
    ['origin', originText(v)],
    ['descends from', ancestors.length === 0 ? '-' : ancestors.join(' < ')],
    ...(unfreezeReason === null ? [] : [['unfrozen because', unfreezeReason] as const]),
    ['unfrozen into', children.length === 0 ? '-' : children.join(', ')],
    ['digest', v.digest ?? '-'],
    ['size', `${v.sizeBytes === null ? '-' : size(v.sizeBytes)}, on disk ${size(diskUseBytes)}`],
    ['age', age(v.createdAtMs, Date.now())],
    ['last verified', v.verifiedAtMs === null ? '-' : `${age(v.verifiedAtMs, Date.now())} ago`],
    ['fs-verity', verityText(detail)],
    ['smoke gate', took(v.smokeMs)],
    ['template', took(v.templateMs)],
    ['kernel', v.kernelVersion],
    ['guest agent', v.agentVersion],
    ['packages', String(packages.length)],
    ['template', templateText(detail.templates)],
    ['machines', machines.length === 0 ? '-' : machines.map(({ name, machineId }) => name ?? machineId).join(', ')],
  ];
  const lines = aligned(facts.map(([fact, value]) => [fact, printableLine(value)] as const));
  return [...lines, '', ...checkLines(v)].join('\n');
}

const took = (ms: number | null): string => (ms === null ? '-' : `took ${(ms / 1000).toFixed(1)} s`);

function verityText({ files }: ImageVersionDetail): string {
  if (files.length === 0) return '-';
  return files.every(({ verityDigest }) => verityDigest !== null) ? 'enabled' : 'not available on its file system';
}

function originText({ origin, recipeDigest, sourceDigest }: ImageVersionView): string {
  if (origin === 'recipe') return `recipe ${recipeDigest}`;
  return origin === 'import' ? `import of ${sourceDigest ?? '-'}` : 'maintenance';
}

const checkLines = ({ checks }: ImageVersionView): string[] =>
  checks.map(({ name, outcome, detail }) => `  ${outcome.padEnd(9)}  ${printableLine(`${name}: ${detail}`)}`);

function describe(printer: CliContext['printer'], image: ImageView): string {
  const { name, description, versions, frozenVersion, templates } = image;
  const now = Date.now();
  const rows = versions.map((v) => [
    `${name}:${v.version}`,
    v.state,
    age(v.createdAtMs, now),
    v.kernelVersion,
    v.agentVersion,
    v.digest ?? '-',
    v.message,
  ]);
  const checks = versions[0] === undefined ? [] : checkLines(versions[0]);
  return [
    `${name}: ${description}`,
    ...(frozenVersion === null ? [] : [`template of ${name}:${frozenVersion}: ${templateText(templates)}`]),
    printer.table(['VERSION', 'STATE', 'AGE', 'KERNEL', 'AGENT', 'DIGEST', 'MESSAGE'], rows),
    ...(checks.length > 0 ? ['', 'smoke checks of the newest version:', ...checks] : []),
  ].join('\n');
}

async function readLog(gateway: CliContext['gateway'], name: string, version: number): Promise<string> {
  let text = '';
  for (let fromOffset = 0; ;) {
    const path = `${imagePath(name)}/versions/${version}/log`;
    const part = await gateway.call(ImageLogView, 'GET', path, { query: { fromOffset } });
    if (part.text === '') return printable(text);
    text += part.text;
    fromOffset = part.nextOffset;
  }
}

async function operate(context: CliContext, verb: ImageVerb, name: string, version: number | null): Promise<void> {
  const operation = await operateOnImage(context, verb, name, version);
  context.printer.result(operation, () => operationText(operation));
}

/** Starts an operation and follows it to its end, telling each step. Throws the error that ended it. */
export async function operateOnImage(
  context: CliContext,
  verb: ImageVerb,
  name: string,
  version: number | null,
): Promise<OperationView> {
  const body = verb === 'build' ? {} : { version };
  return followOperation(
    context,
    await context.gateway.call(OperationView, 'POST', `${imagePath(name)}/${verb}`, { body }),
  );
}
