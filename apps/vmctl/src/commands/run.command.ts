import { Option, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { MachineView, VerdictReport } from '@inquest/contracts-vm';
import type { ExecExit } from '@inquest/frame-protocol';
import { delay } from '@inquest/kernel';
import { exitStatusFor, VERDICT_CLASSES, type VerdictClass } from '@inquest/verdict-engine';
import type { CliContext, ContextOf } from '../context';
import { cliError } from '../errors';
import { verdictText } from '../output/verdict-text';
import { awaitEnding } from '../run/await-ending';
import { mayEndTheMachine } from '../run/ending-command';
import { followExec, type OutputSinks } from '../run/exec-stream';
import { OutputKeeper } from '../run/kept-output';
import { refuseAgentOptions, runBySerial } from '../run/run-by-serial';
import { signalStatus } from '../run/signal-status';
import { isInputWanted, withInput } from '../run/standard-input';
import { examples } from './examples';
import { MACHINE_ARGUMENT } from './machine.commands';
import { seconds } from './option-values';

/** How long a machine has to end after a command that may end it; well above what an orderly poweroff takes. */
const DEFAULT_SETTLE_SECONDS = 30;

const STATUSES = `
Exit status: the command's own while the machine lives. When the machine ended: 0 for the ending that was expected
(clean_poweroff unless --expect says another), else 83 forced or dirty poweroff or halted, 84 reset or reset loop,
85 panic or watchdog, 86 killed, never booted or host failure, 87 hung, agent lost or still running at the deadline,
88 suspended, 89 unknown.

Standard input reaches the command when it is a pipe or a file. Ctrl-C kills the command, and everything it started.

--via serial is for a machine whose guest agent is gone: the command runs as root in a shell that the guest offers on its
second serial port, without standard input, for a minute unless --timeout says otherwise. Its standard output and
standard error come mixed, when it has ended; Ctrl-C only stops waiting for it.`;

/** How a command gets into a machine. */
const WAYS = ['agent', 'serial'] as const;

interface RunOptions {
  readonly via: (typeof WAYS)[number];
  readonly expect?: string | undefined;
  readonly settle: number;
  readonly cwd?: string | undefined;
  readonly user?: string | undefined;
  readonly timeout?: number | undefined;
  readonly stdin?: boolean | undefined;
}

/** `run`: a command in a machine, and a verdict when the machine ends with it. */
export function addRunCommand(program: CommandUnknownOpts, context: ContextOf): void {
  program
    .command('run')
    .argument('<machine>', MACHINE_ARGUMENT)
    .argument('<command...>', 'a command line for /bin/sh in the guest; options of vmctl stand before <machine>')
    .option('--expect <class>', 'wait for the machine to end, and exit 0 when its verdict is this class')
    .option('--settle <seconds>', 'how long it may take to end', seconds, DEFAULT_SETTLE_SECONDS)
    .addOption(new Option('--via <way>', 'how it gets there').choices(WAYS).default('agent' as const))
    .option('--cwd <path>', 'working directory in the guest')
    .option('--user <name>', 'user in the guest')
    .option('--timeout <seconds>', 'kill the command, and everything it started, after this long', seconds)
    .option('--stdin', 'pass standard input to the command, whatever it is')
    .option('--no-stdin', 'leave standard input alone, as a loop that reads it needs')
    .passThroughOptions()
    .description('run a command in a machine; prints the verdict when the machine ended with it')
    .addHelpText('after', STATUSES)
    .addHelpText(
      'after',
      examples(
        ["vmctl run box 'uname -a'", ''],
        ['vmctl run box sh -s < setup.sh', 'a script from this host'],
        ['vmctl run box poweroff', 'prints the verdict, exit status 0'],
        ["vmctl run --via serial box 'ps; dmesg'", 'when the guest agent is gone'],
        ["vmctl run --expect guest_reset box 'reboot -f'", 'exit status 0 when that is what happened'],
      ),
    )
    .action((machine, command, options) => run(context(), machine, command.join(' '), options));
}

async function run(context: CliContext, idOrName: string, command: string, options: RunOptions): Promise<void> {
  const expected = expectedClass(options.expect);
  const isSerial = options.via === 'serial';
  if (isSerial) refuseAgentOptions(options);
  // By id from here on: a name is free again once its machine has ended.
  const machine = await context.gateway.call(MachineView, 'GET', `/v1/machines/${encodeURIComponent(idOrName)}`);
  const keepers = context.printer.json ? { stdout: new OutputKeeper(), stderr: new OutputKeeper() } : null;
  const sinks = keepers ?? context;
  const { exit, standing } = isSerial
    ? await executeBySerial(context, machine, command, options, sinks)
    : await executeOrEnd(context, machine, command, options, sinks);
  const mustWait = expected !== null || exit === null || mayEndTheMachine(command);
  const report = standing ?? (mustWait ? await awaitEnding(context, machine, options.settle) : null);
  const status = exitStatus(exit, report, expected);
  if (keepers !== null) {
    const output = { stdout: keepers.stdout.kept, stderr: keepers.stderr.kept };
    context.printer.data(
      JSON.stringify({ machineId: machine.machineId, exit, ...output, exitStatus: status, ending: report }, null, 2),
    );
  } else {
    tell(context, exit, report, options);
  }
  context.exit(status);
}

/** What became of a command: its end, or the verdict on a machine that stands still in it. */
interface Outcome {
  readonly exit: ExecExit | null;
  readonly standing: VerdictReport | null;
}

/** Nothing is made of a machine that stands still: that its agent is gone is why this way was taken. */
async function executeBySerial(
  context: CliContext,
  machine: MachineView,
  command: string,
  { timeout }: RunOptions,
  sinks: OutputSinks,
): Promise<Outcome> {
  return { exit: await runBySerial(context, machine, { command, timeoutSeconds: timeout }, sinks), standing: null };
}

/**
 * `execute`, but given up when the machine stands still: one that halted, hung, sleeps or lost its agent closes no
 * connection. Where an ending is expected any sign of it counts, else only one that is certain: a guest may be busy.
 */
async function executeOrEnd(
  context: CliContext,
  machine: MachineView,
  command: string,
  options: RunOptions,
  sinks: OutputSinks,
): Promise<Outcome> {
  const done = new AbortController();
  const signal = AbortSignal.any([context.signal, done.signal]);
  const executed = execute({ ...context, signal }, machine, command, options, sinks);
  const outcome = executed.then((exit) => ({ exit, standing: null }));
  const isExpected = options.expect !== undefined || mayEndTheMachine(command);
  try {
    for (;;) {
      const known = await Promise.race([outcome, delay(options.settle * 1000, signal).then(() => null)]);
      if (known !== null) return known;
      const standing = await awaitEnding(context, machine, 0);
      const { class: verdict, ended, confidence } = standing.verdict;
      const isSure = isExpected || ended || confidence === 'certain';
      if (verdict !== 'still_running' && isSure) return { exit: null, standing };
    }
  } finally {
    outcome.catch(() => undefined);
    done.abort();
  }
}

/** The command's end; null when the transport died first. Hanging up, as on Ctrl-C, kills the command. */
async function execute(
  { gateway, stdin, signal }: CliContext,
  { machineId, incarnation }: MachineView,
  command: string,
  options: RunOptions,
  sinks: OutputSinks,
): Promise<ExecExit | null> {
  const { cwd = null, user = null, timeout } = options;
  const request = {
    command,
    incarnation,
    cwd,
    user,
    timeoutMs: timeout === undefined ? null : Math.ceil(timeout * 1000),
  };
  if (!(await isInputWanted(stdin, options.stdin))) {
    const stream = await gateway.stream('POST', `/v1/machines/${machineId}/exec-stream`, { body: request, signal });
    return followExec(stream, sinks, signal);
  }
  try {
    const stream = await gateway.stream(
      'POST',
      `/v1/machines/${machineId}/exec-pipe`,
      { signal },
      withInput(request, stdin),
    );
    return await followExec(stream, sinks, signal);
  } finally {
    // An input that nobody ends would keep us waiting for it.
    stdin.destroy();
  }
}

function exitStatus(exit: ExecExit | null, report: VerdictReport | null, expected: VerdictClass | null): number {
  const hasEnded = report !== null && report.verdict.class !== 'still_running';
  if (report !== null && (hasEnded || expected !== null || exit === null)) {
    return exitStatusFor({ class: report.verdict.class as VerdictClass }, expected ?? 'clean_poweroff');
  }
  return exit?.code ?? signalStatus(exit?.signal);
}

function tell(
  { printer }: CliContext,
  exit: ExecExit | null,
  report: VerdictReport | null,
  { expect, timeout }: RunOptions,
): void {
  if (exit?.timedOut === true) printer.note(`vmctl: killed after ${timeout} s`);
  if (report === null) return;
  const isOfInterest = expect !== undefined || exit === null || report.verdict.class !== 'still_running';
  if (isOfInterest) printer.note(verdictText(report.verdict));
}

function expectedClass(given: string | undefined): VerdictClass | null {
  if (given === undefined) return null;
  const known = VERDICT_CLASSES.find((candidate) => candidate === given);
  if (known !== undefined) return known;
  throw cliError('CLI_USAGE_INVALID', `"${given}" is no verdict; there are: ${VERDICT_CLASSES.join(', ')}`);
}
