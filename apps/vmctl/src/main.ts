#!/usr/bin/env node
import 'reflect-metadata';
import { hasCode } from '@inquest/kernel';
import { GatewayClient } from './api/gateway-client';
import type { CliContext } from './context';
import { EXIT } from './exit-codes';
import { Printer } from './output/printer';
import { buildProgram } from './program';

/** Runs one command line; the exit status is set, not forced, so that pending output is written. */
async function main(argv: readonly string[]): Promise<void> {
  const interrupt = new AbortController();
  process.once('SIGINT', () => interrupt.abort(new Error('interrupted')));
  process.once('SIGTERM', () => interrupt.abort(new Error('terminated')));
  const { env, stdout, stderr } = process;
  let printer = new Printer({ json: false, stdout, stderr, env });
  const program = buildProgram((json): CliContext => {
    printer = new Printer({ json, stdout, stderr, env });
    return {
      env,
      printer,
      gateway: new GatewayClient(env),
      signal: interrupt.signal,
      exit: (status) => void (process.exitCode = status),
    };
  });
  try {
    await program.parseAsync([...argv]);
  } catch (e) {
    printer.error(e);
    process.exitCode = hasCode(e, 'CLI_PLATFORM_DOWN') ? EXIT.platformDown : EXIT.failed;
  }
}

void main(process.argv);
