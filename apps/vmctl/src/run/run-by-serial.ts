import { ExecSerialView, SERIAL_TIMEOUT_MS, type MachineView } from '@inquest/contracts-vm';
import type { ExecExit } from '@inquest/frame-protocol';
import { hasCode } from '@inquest/kernel';
import type { CliContext } from '../context';
import { cliError } from '../errors';
import type { OutputSinks } from './exec-stream';

/** What the gateway, the services and a busy machine may add to a command's own time limit. */
const CALL_MARGIN_MS = 60_000;

/** The options of `run` that the serial port knows nothing of, with what was given. */
export interface AgentOnlyOptions {
  readonly cwd?: string | undefined;
  readonly user?: string | undefined;
  readonly stdin?: boolean | undefined;
}

/** Throws `CLI_USAGE_INVALID` for an option that only the guest agent can do. */
export function refuseAgentOptions({ cwd, user, stdin }: AgentOnlyOptions): void {
  const given = Object.entries({ '--cwd': cwd, '--user': user, '--stdin': stdin || undefined });
  const name = given.find(([, value]) => value !== undefined)?.[0];
  if (name === undefined) return;
  throw cliError(
    'CLI_USAGE_INVALID',
    `${name} needs the guest agent; by the serial port a command runs as root in /root`,
  );
}

/**
 * Runs a command by the machine's second serial port, and writes its output, both streams mixed, when it has ended.
 * Null when the machine ended with it. Throws what the platform answers.
 */
export async function runBySerial(
  { gateway, printer, signal }: CliContext,
  { machineId, incarnation }: MachineView,
  { command, timeoutSeconds }: { readonly command: string; readonly timeoutSeconds: number | undefined },
  { stdout }: Pick<OutputSinks, 'stdout'>,
): Promise<ExecExit | null> {
  const timeoutMs = timeoutSeconds === undefined ? SERIAL_TIMEOUT_MS.default : Math.ceil(timeoutSeconds * 1000);
  const body = { command, incarnation, timeoutMs };
  const options = { body, signal, timeoutMs: timeoutMs + CALL_MARGIN_MS };
  try {
    const route = `/v1/machines/${machineId}/exec-serial`;
    const { exitCode, durationMs, output } = await gateway.call(ExecSerialView, 'POST', route, options);
    printer.note('vmctl: by the serial port, standard output and standard error come mixed');
    stdout.write(output.text);
    return {
      code: exitCode,
      signal: null,
      timedOut: false,
      stdoutBytes: output.totalBytes,
      stderrBytes: 0,
      durationMs,
    };
  } catch (e) {
    if (hasCode(e, 'MACHINE_LOST')) return null;
    throw e;
  }
}
