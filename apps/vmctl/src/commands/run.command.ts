import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { MachineView, VerdictReport } from '@inquest/contracts-vm';
import { exitStatusFor, VERDICT_CLASSES, type VerdictClass } from '@inquest/verdict-engine';
import type { CliContext, ContextOf } from '../context';
import { cliError } from '../errors';
import { verdictText } from '../output/verdict-text';
import { mayEndTheMachine } from '../run/ending-command';
import { followExec } from '../run/exec-stream';

/** How long a machine has to end after a command that may end it; well above what an orderly poweroff takes. */
const DEFAULT_SETTLE_SECONDS = 30;
/** One long poll for a machine's state. */
const WAIT_MS = 20_000;
const EXIT_OF_A_SIGNALLED_COMMAND = 128;

const STATUSES = `
Exit status: the command's own while the machine lives. When the machine ended: 0 for the ending that was expected,
else 83 forced or dirty poweroff or halted, 84 reset or reset loop, 85 panic or watchdog, 86 killed, never booted or
host failure, 87 hung, agent lost or still running at the deadline, 88 suspended, 89 unknown.

Examples:
  vmctl run box 'uname -a'
  vmctl run box poweroff                     prints the verdict, exit status 0
  vmctl run --expect guest_reset box 'reboot -f'`;

interface RunOptions {
  readonly expect?: string | undefined;
  readonly settle: number;
  readonly cwd?: string | undefined;
  readonly user?: string | undefined;
  readonly timeout?: number | undefined;
}

/** `run`: a command in a machine, and a verdict when the machine ends with it. */
export function addRunCommand(program: CommandUnknownOpts, context: ContextOf): void {
  program
    .command('run')
    .argument('<machine>')
    .argument('<command...>', 'a command line for /bin/sh in the guest')
    .option('--expect <class>', 'wait for the machine to end, and exit 0 when its verdict is this class')
    .option('--settle <seconds>', 'how long it may take to end', Number, DEFAULT_SETTLE_SECONDS)
    .option('--cwd <path>', 'working directory in the guest')
    .option('--user <name>', 'user in the guest')
    .option('--timeout <seconds>', 'kill the command, and everything it started, after this long', Number)
    .passThroughOptions()
    .description('run a command in a machine; prints the verdict when the machine ended with it')
    .addHelpText('after', STATUSES)
    .action((machine, command, options) => run(context(), machine, command.join(' '), options));
}

async function run(context: CliContext, idOrName: string, command: string, options: RunOptions): Promise<void> {
  const { gateway, signal, exit, printer } = context;
  const expected = expectedClass(options.expect);
  // By id from here on: a name is free again once its machine has ended.
  const { machineId, incarnation } = await gateway.call(MachineView, 'GET', `/v1/machines/${encodeURIComponent(idOrName)}`);
  const stream = await gateway.stream('POST', `/v1/machines/${machineId}/exec-stream`, {
    body: {
      command,
      incarnation,
      cwd: options.cwd ?? null,
      user: options.user ?? null,
      timeoutMs: options.timeout === undefined ? null : Math.round(options.timeout * 1000),
    },
    signal,
  });
  const { exit: end } = await followExec(stream, process.stdout, process.stderr);
  const mustWait = expected !== null || end === null || mayEndTheMachine(command);
  const machine = mustWait ? await awaitEnd(context, machineId, options.settle) : null;
  if (end !== null && expected === null && machine?.state !== 'ended' && !(await hasHalted(context, machineId, mustWait))) {
    if (end.timedOut) printer.note(`vmctl: killed after ${options.timeout} s`);
    exit(end.code ?? EXIT_OF_A_SIGNALLED_COMMAND + 9);
    return;
  }
  const report = await gateway.call(VerdictReport, 'GET', `/v1/machines/${machineId}/verdict`, { query: { incarnation } });
  printer.note(verdictText(report.verdict));
  if (printer.json) printer.data(JSON.stringify({ exit: end, ...report }));
  exit(exitStatusFor({ class: report.verdict.class as VerdictClass }, expected ?? 'clean_poweroff'));
}

function expectedClass(given: string | undefined): VerdictClass | null {
  if (given === undefined) return null;
  const known = VERDICT_CLASSES.find((candidate) => candidate === given);
  if (known !== undefined) return known;
  throw cliError('CLI_USAGE_INVALID', `"${given}" is no verdict; there are: ${VERDICT_CLASSES.join(', ')}`);
}

/** The machine once it has ended, or as it is after `settleSeconds`. */
async function awaitEnd({ gateway, signal }: CliContext, machineId: string, settleSeconds: number): Promise<MachineView> {
  const deadline = performance.now() + settleSeconds * 1000;
  for (;;) {
    const waitMs = Math.max(0, Math.min(WAIT_MS, Math.round(deadline - performance.now())));
    const machine = await gateway.call(MachineView, 'GET', `/v1/machines/${machineId}/wait`, {
      query: { state: ['ended'], waitMs },
      signal,
    });
    if (machine.state === 'ended' || performance.now() >= deadline) return machine;
  }
}

/** A machine whose process lives may still have come to its end: halted, hung, panicked without a reboot. */
async function hasHalted({ gateway }: CliContext, machineId: string, mayHaveEnded: boolean): Promise<boolean> {
  if (!mayHaveEnded) return false;
  const { verdict } = await gateway.call(VerdictReport, 'GET', `/v1/machines/${machineId}/verdict`);
  return verdict.class !== 'still_running';
}
