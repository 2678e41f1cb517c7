import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { ImageList, ImageLogView, ImageView } from '@inquest/contracts-image';
import { OperationView } from '@inquest/contracts-shared';
import { errorFromBody } from '@inquest/kernel';
import { printable } from '@inquest/transcript';
import type { CliContext, ContextOf } from '../context';
import { age, size } from '../output/phrases';

/** One long poll of an operation. */
const WAIT_MS = 20_000;

type ImageVerb = 'build' | 'freeze' | 'verify';

/** `image ls|show|build|freeze|verify`. */
export function addImageCommands(program: CommandUnknownOpts, context: ContextOf): void {
  const image = program.command('image').description('base systems: build, freeze, verify');
  image
    .command('ls')
    .description('list the images and their newest versions')
    .action(() => list(context()));
  image
    .command('show')
    .argument('<image>', 'name, or name:version for its log')
    .description('show every version of an image, its checks and lineage')
    .action((name) => show(context(), name));
  image
    .command('build')
    .argument('<image>')
    .description('build the next version from its recipe')
    .action((name) => operate(context(), 'build', name, null));
  image
    .command('freeze')
    .argument('<image>', 'name, or name:version')
    .description('smoke-boot a built version, checksum it and make it read-only; only then can it start machines')
    .action((name) => operate(context(), 'freeze', ...nameAndVersion(name)));
  image
    .command('verify')
    .argument('<image>', 'name, or name:version')
    .description('read every byte of a frozen version again and compare it with its record')
    .action((name) => operate(context(), 'verify', ...nameAndVersion(name)));
}

async function list({ gateway, printer }: CliContext): Promise<void> {
  const images = await gateway.call(ImageList, 'GET', '/v1/images');
  const now = Date.now();
  printer.result(images, () =>
    printer.table(
      ['IMAGE', 'FROZEN', 'NEWEST', 'STATE', 'SIZE', 'AGE', 'DIGEST'],
      images.items.map(({ name, frozenVersion, versions }) => {
        const newest = versions[0];
        if (!newest) return [name, '-', '-', 'not built', '-', '-', `build it: vmctl image build ${name}`];
        const disk = newest.sizeBytes === null ? '-' : size(newest.sizeBytes);
        const digest = newest.digest?.slice(0, 19) ?? '-';
        return [name, String(frozenVersion ?? '-'), String(newest.version), newest.state, disk, age(newest.createdAtMs, now), digest];
      }),
    ),
  );
}

async function show({ gateway, printer }: CliContext, spec: string): Promise<void> {
  const [name, version] = nameAndVersion(spec);
  const image = await gateway.call(ImageView, 'GET', `/v1/images/${encodeURIComponent(name)}`);
  const log = version === null ? null : await readLog(gateway, name, version);
  printer.result(log === null ? image : { ...image, log }, () => [describe(printer, image), ...(log === null ? [] : ['', log])].join('\n'));
}

function describe(printer: CliContext['printer'], { name, description, versions }: ImageView): string {
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
  const checks = versions[0]?.checks.map(({ name: check, outcome, detail }) => `  ${outcome.padEnd(9)}  ${check}: ${detail}`) ?? [];
  return [
    `${name}: ${description}`,
    printer.table(['VERSION', 'STATE', 'AGE', 'KERNEL', 'AGENT', 'DIGEST', 'MESSAGE'], rows),
    ...(checks.length > 0 ? ['', 'smoke checks of the newest version:', ...checks] : []),
  ].join('\n');
}

async function readLog(gateway: CliContext['gateway'], name: string, version: number): Promise<string> {
  let text = '';
  for (let fromOffset = 0; ; ) {
    const path = `/v1/images/${encodeURIComponent(name)}/versions/${version}/log`;
    const part = await gateway.call(ImageLogView, 'GET', path, { query: { fromOffset } });
    if (part.text === '') return printable(text);
    text += part.text;
    fromOffset = part.nextOffset;
  }
}

async function operate(context: CliContext, verb: ImageVerb, name: string, version: number | null): Promise<void> {
  const operation = await operateOnImage(context, verb, name, version);
  const seconds = (((operation.endedAtMs ?? operation.startedAtMs) - operation.startedAtMs) / 1000).toFixed(1);
  context.printer.result(operation, () => `${operation.subject}: ${verb} ${operation.state} in ${seconds} s`);
}

/** Starts an operation and follows it to its end, telling each step. Throws the error that ended it. */
export async function operateOnImage(
  { gateway, printer, signal }: CliContext,
  verb: ImageVerb,
  name: string,
  version: number | null,
): Promise<OperationView> {
  const body = verb === 'build' ? {} : { version };
  let operation = await gateway.call(OperationView, 'POST', `/v1/images/${encodeURIComponent(name)}/${verb}`, { body });
  let told = '';
  while (operation.state === 'running') {
    if (operation.step !== told) printer.note(`  ${String(operation.percent).padStart(3)} %  ${operation.step}`);
    told = operation.step;
    signal.throwIfAborted();
    operation = await gateway.call(OperationView, 'GET', `/v1/operations/${operation.operationId}`, {
      query: { waitMs: WAIT_MS, knownStep: told },
      signal,
    });
  }
  const error = errorFromBody(operation.error);
  if (error !== null) throw error;
  return operation;
}

/** `tiny` or `tiny:3`. What is not a number is left to the platform to refuse. */
function nameAndVersion(spec: string): [string, number | null] {
  const match = /^(.*):(\d+)$/.exec(spec);
  return match ? [match[1] ?? spec, Number(match[2])] : [spec, null];
}
