import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { lookup } from 'node:dns/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { EvidenceView } from '@inquest/contracts-vm';
import { isDomainError } from '@inquest/kernel';
import { BUNDLE_FILES, decodeMeta } from '@inquest/verdict-engine';
import type { CliContext } from '../context';
import { CheckList, expectThat, Unproven } from '../demo/check-list';
import { ensureFrozen, ensureUp } from '../demo/demo-session';
import { EphemeralMachine } from '../demo/ephemeral-machine';
import { filesBelow, localLayout } from '../demo/local-host';
import { Printer } from '../output/printer';
import { copy } from '../run/copy';

/** What is to be tested. */
export interface SelftestOptions {
  readonly image: string;
  /** The driver that the platform is expected to use; null = whichever it uses. */
  readonly driver: string | null;
  /** A host of the internet that the machine is allowed to reach. */
  readonly egressHost: string;
}

/** Larger than one read of a pipe or one frame of the link. */
const PAYLOAD_BYTES = 200_000;
/** RFC 6761 reserves the name: it never resolves, and nobody is asked for it. */
const DENIED_HOST = 'denied.invalid';
/** Programs without which no check of a guest means anything. */
const REQUIRED_PROGRAMS = ['sh', 'cat', 'ls', 'tar', 'sleep'];
const PROXY = '127.0.0.1 3128';

/**
 * Uses one machine as a caller would, from its creation to its end and beyond. Prints a line for each check; throws
 * `CLI_CHECK_FAILED` when one failed.
 */
export async function selftest(context: CliContext, options: SelftestOptions): Promise<void> {
  if (options.image === 'tiny') {
    await ensureUp(context);
    await ensureFrozen(context);
  }
  const checks = new CheckList(context);
  const directory = await mkdtemp(path.join(tmpdir(), 'inquest-selftest-'));
  let machine: EphemeralMachine | null = null;
  try {
    await checks.check('a machine is created and its agent answers', async () => {
      machine = await EphemeralMachine.start(context, {
        image: options.image,
        allowedHosts: [options.egressHost],
      });
      return machine.id;
    });
    if (machine !== null) await useAndDestroy(context, checks, machine, options, directory);
  } finally {
    await (machine as EphemeralMachine | null)?.remove();
    await rm(directory, { recursive: true, force: true });
  }
  checks.finish();
}

async function useAndDestroy(
  context: CliContext,
  checks: CheckList,
  machine: EphemeralMachine,
  options: SelftestOptions,
  directory: string,
): Promise<void> {
  await checkFiles(context, checks, machine, directory);
  await checkCommands(checks, machine);
  await checkEgress(checks, machine, options.egressHost);
  await checkPrograms(checks, machine);
  await checkEnd(context, checks, machine);
  await checks.check('the driver is the expected one', () => checkDriver(context, machine, options.driver));
}

async function checkFiles(
  context: CliContext,
  checks: CheckList,
  machine: EphemeralMachine,
  directory: string,
): Promise<void> {
  const quiet = silenced(context);
  const [source, back] = [path.join(directory, 'sent'), path.join(directory, 'back')];
  const payload = randomBytes(PAYLOAD_BYTES);
  await checks.check('a file is put into it', async () => {
    await writeFile(source, payload);
    await copy(quiet, source, `${machine.id}:/tmp/selftest`);
    return `${PAYLOAD_BYTES} bytes`;
  });
  await checks.check('a command reads the file', async () => {
    const size = await machine.output('wc -c < /tmp/selftest');
    expectThat(Number(size) === PAYLOAD_BYTES, `it has ${size} bytes`);
    return `${size} bytes`;
  });
  await checks.check('the file comes back as it went', async () => {
    await copy(quiet, `${machine.id}:/tmp/selftest`, back);
    expectThat(payload.equals(await readFile(back)), 'other bytes came back');
    return 'byte for byte';
  });
}

async function checkCommands(checks: CheckList, machine: EphemeralMachine): Promise<void> {
  await checks.check('exit status 3 is 3', async () => {
    const { exitCode } = await machine.exec('exit 3');
    expectThat(exitCode === 3, `it is ${exitCode}`);
    return '';
  });
  await checks.check('the environment reaches a command', async () => {
    const { stdout } = await machine.exec('printf %s "$SELFTEST"', { SELFTEST: 'a b\nc' });
    expectThat(stdout.text === 'a b\nc', `it reads ${JSON.stringify(stdout.text)}`);
    return '';
  });
  await checks.check('a bad environment is refused', () => refusal(machine.exec('true', { 'NO=NAME': 'x' })));
}

async function checkEgress(checks: CheckList, machine: EphemeralMachine, host: string): Promise<void> {
  const ask = (authority: string): Promise<string> =>
    machine.output(`printf 'CONNECT ${authority}:443 HTTP/1.1\\r\\n\\r\\n' | timeout 10 nc ${PROXY} | head -c 300`);
  await checks.check(`the proxy connects it to ${host}`, async () => {
    await lookup(host).catch((e: unknown) => {
      const why = `this host cannot resolve ${host} (${(e as Error).message})`;
      throw new Unproven(`${why}; unproven: that an allowed host is reachable`);
    });
    const answer = await ask(host);
    if (answer.includes('EGRESS_ADDRESS_PRIVATE')) {
      throw new Unproven(`${host} has no public address here; unproven: that an allowed host is reachable`);
    }
    expectThat(/^HTTP\/1\.[01] 200/.test(answer), `the proxy said: ${firstLine(answer)}`);
    return firstLine(answer);
  });
  await checks.check('the proxy refuses every other host', async () => {
    const answer = await ask(DENIED_HOST);
    expectThat(/^HTTP\/1\.[01] 403/.test(answer), `no refusal of the proxy, but: ${firstLine(answer)}`);
    expectThat(answer.includes('EGRESS_HOST_DENIED'), 'the refusal does not name its rule');
    return 'EGRESS_HOST_DENIED';
  });
}

async function checkPrograms(checks: CheckList, machine: EphemeralMachine): Promise<void> {
  await checks.check('the required programs are there', async () => {
    await machine.output(REQUIRED_PROGRAMS.map((program) => `command -v ${program} > /dev/null`).join(' && '));
    return REQUIRED_PROGRAMS.join(', ');
  });
  await checks.check('git makes a commit', async () => {
    const { exitCode } = await machine.exec('command -v git');
    if (exitCode !== 0) throw new Unproven('the image has no git; unproven: that git works in a guest');
    const commit = 'git -c user.name=t -c user.email=t@example.org commit -qm first --allow-empty';
    return machine.output(`cd $(mktemp -d) && git init -q . && ${commit} && git log --oneline | cat`);
  });
}

async function checkEnd(context: CliContext, checks: CheckList, machine: EphemeralMachine): Promise<void> {
  await checks.check('it is destroyed, and seen to be gone', async () => {
    const { killed, directoryRemoved } = await machine.remove();
    expectThat(killed, 'its process was not seen to be gone');
    expectThat(directoryRemoved, 'its directory is still there');
    return '';
  });
  await checks.check('its sockets and files are gone', async () => {
    const { machines } = await localLayout(context, 'that no socket is left');
    const left = [...(await filesBelow(machines)).keys()].filter((file) => file.includes(machine.id));
    expectThat(left.length === 0, `left: ${left.join(', ')}`);
    return '';
  });
  await checks.check('a command after the end is refused', () => refusal(machine.exec('true')));
}

/** The driver that the machine's evidence names. */
async function checkDriver(context: CliContext, { id, incarnation }: EphemeralMachine, wanted: string | null) {
  const file = `/v1/machines/${id}/evidence/${BUNDLE_FILES.meta}`;
  const { text } = await context.gateway.call(EvidenceView, 'GET', file, { query: { incarnation } });
  const { driver } = decodeMeta(Buffer.from(text));
  expectThat(wanted === null || driver === wanted, `it is ${driver}`);
  return driver;
}

/** The code with which the platform refuses a request, which it must. */
async function refusal(request: Promise<unknown>): Promise<string> {
  try {
    await request;
  } catch (e) {
    if (isDomainError(e) && e.fault === 'caller') return e.code;
    throw e;
  }
  throw new Error('it was accepted');
}

const firstLine = (text: string): string => text.split('\r\n', 1)[0] ?? '';

/** The copies are a means here, no results. */
function silenced(context: CliContext): CliContext {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  return { ...context, printer: new Printer({ json: false, stdout: nowhere, stderr: nowhere, env: {} }) };
}
