import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { IsListOf } from '@inquest/contracts-base';
import { NodeView } from '@inquest/contracts-vm';
import { runCommand } from '@inquest/process';
import { BUNDLE_FILES, encodeVerdict, EVIDENCE_DRIVERS, type EvidenceDriver } from '@inquest/verdict-engine';
import { verdictOfBundle } from '../commands/verdict.command';
import type { CliContext } from '../context';
import { CheckList, expectThat, Unproven } from './check-list';
import { ensureFrozen, ensureUp } from './demo-session';
import { ENDINGS, OUT_OF_REACH, type Ending } from './endings';
import { EphemeralMachine } from './ephemeral-machine';
import { localLayout, monitorPid } from './local-host';

/** The answer of `GET /v1/nodes`. */
class NodeList {
  @IsListOf(() => NodeView, 1000) readonly items!: NodeView[];
}

const IMAGE = 'tiny';
/** An orderly power-off takes 2 s; a host may be many times slower. */
const VERDICT_TIMEOUT_MS = 90_000;
const TOOL_TIMEOUT_MS = 10_000;
/** The overlay of a machine that has written nothing is smaller. */
const FULL_DISK_BYTES = 2 * 1024 * 1024;

/**
 * Ends a machine in every way there is, and shows that each gets its verdict, and the same one again from the stored
 * evidence alone, bit for bit. Throws `CLI_CHECK_FAILED` when one does not.
 */
export async function demoShutdown(context: CliContext): Promise<void> {
  await ensureUp(context);
  await ensureFrozen(context);
  const checks = new CheckList(context);
  const driver = await commonDriver(context);
  for (const ending of ENDINGS) {
    await checks.check(`${ending.expected}: ${ending.name}`, async () => {
      const why = driver === null ? undefined : ending.notOn?.[driver];
      if (why !== undefined) throw new Unproven(`${why}; unproven here: ${ending.expected}`);
      return bring(context, ending);
    });
  }
  for (const [expected, why] of OUT_OF_REACH) {
    await checks.check(expected, () => Promise.reject(new Unproven(`${why}; unproven here: ${expected}`)));
  }
  checks.finish();
}

/** The driver of all nodes that answer; null where they differ. */
async function commonDriver({ gateway }: CliContext): Promise<EvidenceDriver | null> {
  const { items } = await gateway.call(NodeList, 'GET', '/v1/nodes');
  const [first, ...others] = new Set(items.map((node) => node.driver));
  return others.length > 0 ? null : (EVIDENCE_DRIVERS.find((driver) => driver === first) ?? null);
}

/** Brings one ending about on a machine of its own, which is gone afterwards. */
async function bring(context: CliContext, ending: Ending): Promise<string> {
  const machine = await EphemeralMachine.start(context, { image: IMAGE });
  const hangUp = new AbortController();
  try {
    await cause(context, machine, ending, AbortSignal.any([context.signal, hangUp.signal]));
    const { verdict } = await machine.awaitVerdict(ending.expected, VERDICT_TIMEOUT_MS);
    expectThat(verdict.class === ending.expected, `the verdict is ${verdict.class}: ${verdict.account}`);
    await machine.remove();
    // Of one that had ended by itself, more is known once its evidence is closed.
    const { verdict: last } = await machine.verdict();
    const { confidence, account } = last.class === ending.expected ? last : verdict;
    return `${confidence}; ${account} ${await drawnAgain(context, machine)}`;
  } finally {
    hangUp.abort();
    await machine.remove();
  }
}

async function cause(
  context: CliContext,
  machine: EphemeralMachine,
  { cause: how, expected }: Ending,
  signal: AbortSignal,
): Promise<void> {
  switch (how.by) {
    case 'guest':
      return machine.begin(how.shell, signal);
    case 'platform':
      return void (await machine.remove());
    case 'stranger':
      return sendSignal(await localMonitor(context, machine, expected), how.signal, expected);
    case 'full-disk':
      await stopGrowth(await localMonitor(context, machine, expected), expected);
      return machine.begin(how.shell, signal);
  }
}

async function localMonitor(context: CliContext, { id, incarnation }: EphemeralMachine, what: string): Promise<number> {
  await localLayout(context, what);
  return monitorPid(id, incarnation, what);
}

function sendSignal(pid: number, signal: NodeJS.Signals, unproven: string): void {
  try {
    process.kill(pid, signal);
  } catch (e) {
    throw new Unproven(`QEMU cannot be sent ${signal} (${(e as Error).message}); unproven: ${unproven}`);
  }
}

/** No file of the process may grow beyond: writes fail as on a full disk. */
async function stopGrowth(pid: number, unproven: string): Promise<void> {
  const args = ['--pid', String(pid), `--fsize=${FULL_DISK_BYTES}`];
  await runCommand('prlimit', args, { timeoutMs: TOOL_TIMEOUT_MS }).catch((e: unknown) => {
    throw new Unproven(`prlimit cannot bound what QEMU writes (${(e as Error).message}); unproven: ${unproven}`);
  });
}

/** Says whether the stored evidence alone gives the stored verdict again. */
async function drawnAgain(context: CliContext, { id, incarnation }: EphemeralMachine): Promise<string> {
  const layout = await localLayout(context, 'the verdict drawn again from its evidence').catch((e: unknown) => {
    if (e instanceof Unproven) return null;
    throw e;
  });
  if (layout === null) return 'Its evidence is on another host.';
  const bundle = path.join(layout.evidence, id, String(incarnation));
  const stored = await readFile(path.join(bundle, BUNDLE_FILES.verdict), 'utf8');
  const again = encodeVerdict(await verdictOfBundle(bundle));
  expectThat(again === stored, `the evidence in ${bundle} gives another verdict than the stored one`);
  return 'Drawn again from the evidence: the same, bit for bit.';
}
