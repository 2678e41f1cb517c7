import type { Readable } from 'node:stream';
import { CommanderError } from '@commander-js/extra-typings';
import { hasCode } from '@inquest/kernel';
import { GatewayClient } from './api/gateway-client';
import type { Environment } from './api/platform-address';
import type { CliContext } from './context';
import { EXIT } from './exit-codes';
import { Printer, type OutputStream } from './output/printer';
import { buildProgram } from './program';

/** The process that a command line runs in. */
export interface CommandLineProcess {
  readonly env: Environment;
  readonly stdin: Readable & { readonly fd?: number };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly signal: AbortSignal;
}

/** Runs one command line to its end, prints its result or its error, and gives the exit status. Never rejects. */
export async function runCommandLine(argv: readonly string[], host: CommandLineProcess): Promise<number> {
  const { env, stdin, stdout, stderr, signal } = host;
  let status: number = EXIT.ok;
  let printer = new Printer({ json: false, stdout, stderr, env });
  const program = buildProgram({ stdout, stderr }, (json): CliContext => {
    printer = new Printer({ json, stdout, stderr, env });
    const gateway = new GatewayClient(env, signal);
    return { env, stdin, stdout, stderr, printer, gateway, signal, exit: (wanted) => void (status = wanted) };
  });
  try {
    await program.parseAsync([...argv]);
    return status;
  } catch (e) {
    // The option parser has said what is wrong.
    if (e instanceof CommanderError) return e.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (signal.aborted) {
      printer.note('vmctl: interrupted');
      return EXIT.interrupted;
    }
    printer.error(e);
    return statusOf(e);
  }
}

function statusOf(e: unknown): number {
  if (hasCode(e, 'CLI_PLATFORM_DOWN')) return EXIT.platformDown;
  return hasCode(e, 'CLI_USAGE_INVALID') ? EXIT.usage : EXIT.failed;
}
