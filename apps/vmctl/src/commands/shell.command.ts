import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { MachineView, TerminalList, TerminalView } from '@inquest/contracts-vm';
import { exitStatusFor, type VerdictClass } from '@inquest/verdict-engine';
import type { CliContext, ContextOf } from '../context';
import { cliError } from '../errors';
import { EXIT } from '../exit-codes';
import { age } from '../output/phrases';
import { verdictText } from '../output/verdict-text';
import { awaitEnding } from '../run/await-ending';
import { signalStatus } from '../run/signal-status';
import { TerminalFollower, type ViewingEnd } from '../shell/follow-terminal';
import { LocalTerminal } from '../shell/local-terminal';
import { examples } from './examples';
import { MACHINE_ARGUMENT } from './machine.commands';

/** How long a machine has to end when its terminal was lost with it, or its command ended while it goes down. */
const SETTLE_SECONDS = 30;

const KEYS = `
Every key goes to the guest. At the beginning of a line, ~. leaves (the command goes on), ~k ends the command, ~? lists
the keys. Without a terminal, standard input is typed line by line, and its end ends the input.

Exit status: the command's own; where the machine ended meanwhile, the verdict is printed and the status is that of
'vmctl run'. Leaving is 0.`;

interface ShellOptions {
  readonly attach?: string | undefined;
  readonly view?: boolean | undefined;
  readonly list?: boolean | undefined;
  readonly close?: string | undefined;
  readonly cwd?: string | undefined;
  readonly user?: string | undefined;
}

/** `shell`: a terminal in a machine. */
export function addShellCommand(program: CommandUnknownOpts, context: ContextOf): void {
  program
    .command('shell')
    .argument('<machine>', MACHINE_ARGUMENT)
    .argument(
      '[command...]',
      'a command line for /bin/sh in the guest, else a login shell; options of vmctl stand before <machine>',
    )
    .option('--attach <terminal>', 'go on with a terminal that is open already, and take control of it')
    .option('--view', 'only watch')
    .option('--list', 'list the terminals of the machine')
    .option('--close <terminal>', 'end the command of a terminal, and everything that it started')
    .option('--cwd <path>', 'working directory in the guest')
    .option('--user <name>', 'user in the guest')
    .passThroughOptions()
    .description('open a terminal in a machine; it goes on when you leave it')
    .addHelpText('after', KEYS)
    .addHelpText(
      'after',
      examples(
        ['vmctl shell box', 'a login shell'],
        ['vmctl shell box top', 'a program that needs a terminal'],
        ['vmctl shell --attach term-2345678923 box', 'back to one that was left'],
        ['vmctl shell --view --attach term-2345678923 box', 'look over the shoulder of whoever is in control'],
      ),
    )
    .action((machine, command, options) => shell(context(), machine, command.join(' '), options));
}

async function shell(context: CliContext, idOrName: string, command: string, options: ShellOptions): Promise<void> {
  refuseMisuse(context, command, options);
  const machine = await context.gateway.call(MachineView, 'GET', `/v1/machines/${encodeURIComponent(idOrName)}`);
  if (options.list === true) return list(context, machine);
  if (options.close !== undefined) return close(context, machine, options.close);
  const local = new LocalTerminal(context);
  const terminal = await find(context, machine, command, local, options);
  const follower = new TerminalFollower(context, local, options.view === true ? 'view' : 'control');
  const end = await follower.follow(terminal);
  const isOurs = options.attach === undefined && !local.isInteractive;
  await conclude(context, machine, terminal, context.signal.aborted && isOurs ? { how: 'end' } : end);
}

function refuseMisuse({ printer }: CliContext, command: string, options: ShellOptions): void {
  const { attach, view, list: isList, close: closed } = options;
  if (printer.json && isList !== true && closed === undefined) {
    throw cliError(
      'CLI_USAGE_INVALID',
      'a terminal is no JSON document: leave --json out, or use `vmctl run --json` for a command that needs no terminal',
    );
  }
  if (view === true && attach === undefined) {
    throw cliError('CLI_USAGE_INVALID', '--view watches a terminal that is open: name it with --attach');
  }
  if (command !== '' && (attach !== undefined || isList === true || closed !== undefined)) {
    throw cliError(
      'CLI_USAGE_INVALID',
      'options of vmctl stand before <machine>, and only a new terminal takes a command',
    );
  }
}

async function list({ gateway, printer }: CliContext, { machineId }: MachineView): Promise<void> {
  const terminals = await gateway.call(TerminalList, 'GET', `/v1/machines/${machineId}/terminals`);
  const now = Date.now();
  printer.list(
    terminals,
    ['TERMINAL', 'STATE', 'SIZE', 'VIEWERS', 'AGE', 'COMMAND'],
    terminals.items.map((t) => [
      t.terminalId,
      t.state === 'running' ? 'running' : t.message,
      `${t.cols}x${t.rows}`,
      String(t.viewers),
      age(t.openedAtMs, now),
      t.command ?? 'login shell',
    ]),
    'the machine has no terminal; open one with: vmctl shell <machine>',
  );
}

async function close({ gateway, printer }: CliContext, { machineId }: MachineView, terminalId: string): Promise<void> {
  const path = `/v1/machines/${machineId}/terminals/${encodeURIComponent(terminalId)}`;
  const closed = await gateway.call(TerminalView, 'DELETE', path);
  printer.result(closed, () => `${closed.terminalId}: ${closed.message}`);
}

function find(
  { gateway }: CliContext,
  { machineId, incarnation }: MachineView,
  command: string,
  local: LocalTerminal,
  { attach, cwd, user }: ShellOptions,
): Promise<TerminalView> {
  const path = `/v1/machines/${machineId}/terminals`;
  if (attach !== undefined) return gateway.call(TerminalView, 'GET', `${path}/${encodeURIComponent(attach)}`);
  return gateway.call(TerminalView, 'POST', path, {
    body: {
      command: command === '' ? null : command,
      cwd: cwd ?? null,
      user: user ?? null,
      incarnation,
      ...local.size,
      term: local.term,
    },
  });
}

async function conclude(
  context: CliContext,
  machine: MachineView,
  { terminalId }: TerminalView,
  end: ViewingEnd,
): Promise<void> {
  if (end.how === 'end') {
    // Also after an interruption, which ends every request of the context.
    const signal = AbortSignal.timeout(CLOSE_TIMEOUT_MS);
    const path = `/v1/machines/${machine.machineId}/terminals/${terminalId}`;
    const closed = await context.gateway.call(TerminalView, 'DELETE', path, { signal });
    context.printer.note(`vmctl: terminal ${terminalId} has ended: ${closed.message}`);
    return context.exit(context.signal.aborted ? EXIT.interrupted : EXIT.ok);
  }
  if (end.how === 'left') {
    const again = `vmctl shell --attach ${terminalId} ${machine.machineId}`;
    return context.printer.note(`vmctl: left; the command goes on. Back to it with: ${again}`);
  }
  await report(context, machine, end.terminal);
}

const CLOSE_TIMEOUT_MS = 20_000;

/** How the command ended, and the verdict when the machine ended, or is about to end, with it. */
async function report(context: CliContext, machine: MachineView, terminal: TerminalView): Promise<void> {
  const { exitCode, signal, reason } = terminal;
  const now = await context.gateway.call(MachineView, 'GET', `/v1/machines/${machine.machineId}`);
  const lives = now.incarnation === machine.incarnation && (now.state === 'ready' || now.state === 'paused');
  if (reason !== 'lost' && lives) {
    if (reason !== 'exited') context.printer.note(`vmctl: terminal ${terminal.terminalId}: ${terminal.message}`);
    return context.exit(reason === 'exited' ? (exitCode ?? signalStatus(signal)) : EXIT.failed);
  }
  const { verdict } = await awaitEnding(context, machine, SETTLE_SECONDS);
  context.printer.note(verdictText(verdict));
  context.exit(exitStatusFor({ class: verdict.class as VerdictClass }, 'clean_poweroff'));
}
