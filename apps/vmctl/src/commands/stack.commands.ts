import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import {
  stackLayout,
  stackStatus,
  startStack,
  stopStack,
  type ServiceStatus,
  type StackState,
  type StackStatus,
} from '@inquest/stack';
import { homeFrom } from '../api/platform-address';
import type { CliContext, ContextOf } from '../context';
import { examineHost, type HostFinding } from '../doctor/examine-host';
import { embeddedStack } from '../embedded-stack';
import { EXIT } from '../exit-codes';
import { age } from '../output/phrases';

/** `up`, `down`, `status`, `doctor`: the platform on this host. */
export function addStackCommands(program: CommandUnknownOpts, context: ContextOf): void {
  program
    .command('up')
    .description('start everything on this host, on loopback, with nothing to configure')
    .addHelpText(
      'after',
      `
The state is kept in INQUEST_HOME. INQUEST_MODEL_URL, INQUEST_MODEL_NAME and INQUEST_MODEL_API_KEY name a real model;
without them a scripted one answers. PG_BIN names the Postgres programs to use.`,
    )
    .action(() => up(context()));
  program
    .command('down')
    .description('stop everything that `up` started and wait until every process is gone; the data stays')
    .action(() => down(context()));
  program
    .command('status')
    .description('say what runs where; exit status 3 when the platform is not up')
    .action(() => status(context()));
  program
    .command('doctor')
    .description('check this host for what machines need, and say how to mend it')
    .action(() => doctor(context()));
}

async function up(context: CliContext): Promise<void> {
  const { env, printer } = context;
  const home = homeFrom(env);
  const { isUp, state: running } = await stackStatus(home);
  const state = isUp && running !== null ? running : await bringUp(context);
  printer.result(publicState(home, state), () =>
    [
      `${isUp ? 'already up' : 'up'}: ${state.gatewayUrl ?? ''}`,
      serviceTable(printer, state.services),
      `In a browser: ${state.gatewayUrl ?? ''} and the token in ${stackLayout(home).token}`,
    ].join('\n'),
  );
}

/** Starts the platform of this home, saying what is ready as it comes. Throws what `startStack` throws. */
export function bringUp({ env, printer, signal }: CliContext): Promise<StackState> {
  const told = new Set<string>();
  return startStack({
    home: homeFrom(env),
    declaration: embeddedStack(env),
    signal,
    onProgress: ({ services }) => {
      for (const { name } of services.filter((s) => s.state === 'running' && !told.has(s.name))) {
        told.add(name);
        printer.note(`  ${name} is ready`);
      }
    },
  });
}

async function down({ env, printer }: CliContext): Promise<void> {
  const report = await stopStack(homeFrom(env));
  printer.result(report, () => {
    if (!report.wasUp) return 'nothing was running';
    const leftovers = report.leftovers.map(
      ({ name, pid }) => `  ended ${name} (pid ${pid}), which had been left behind`,
    );
    return ['down: every process is gone', ...leftovers].join('\n');
  });
}

async function status({ env, printer, exit }: CliContext): Promise<void> {
  const home = homeFrom(env);
  const found = await stackStatus(home);
  const { isUp, state, services } = found;
  const shown = state === null ? { home, isUp, services } : { ...publicState(home, state), isUp, services };
  printer.result(shown, () => {
    if (state === null) return `not running (home ${home}); start it with: vmctl up`;
    return `${headline(found, state)}: ${state.gatewayUrl ?? 'no gateway'}\n${serviceTable(printer, services)}`;
  });
  if (!isUp) exit(EXIT.platformDown);
}

function headline({ isUp, isSupervised }: StackStatus, { state, startedAtMs }: StackState): string {
  if (isUp) return `up since ${age(startedAtMs, Date.now())}`;
  return isSupervised ? `${state}, not up` : 'its supervisor is gone; clear up with `vmctl down`';
}

async function doctor({ env, printer, signal, exit }: CliContext): Promise<void> {
  const findings = await examineHost(homeFrom(env), signal);
  printer.result({ findings }, () => findings.map(findingLine).join('\n'));
  if (findings.some(({ outcome }) => outcome === 'missing')) exit(EXIT.failed);
}

const MARK = { ok: 'ok     ', warning: 'warning', missing: 'MISSING' } as const;

const findingLine = ({ what, outcome, detail, remedy }: HostFinding): string =>
  `${MARK[outcome]}  ${what}: ${detail}${remedy === null ? '' : `\n           ${remedy}`}`;

/** What may be printed of the state: its database URL holds a password. */
const publicState = (home: string, { state, startedAtMs, gatewayUrl, natsUrl, services }: StackState) => ({
  home,
  state,
  startedAtMs,
  gatewayUrl,
  natsUrl,
  services,
});

const serviceTable = (printer: CliContext['printer'], services: readonly ServiceStatus[]): string =>
  printer.table(
    ['SERVICE', 'STATE', 'PID', 'RESTARTS', 'WHERE', 'LOG'],
    services.map((s) => [s.name, s.state, String(s.process?.pid ?? '-'), String(s.restarts), s.url ?? '-', s.logFile]),
  );
