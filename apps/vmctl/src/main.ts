#!/usr/bin/env node
import 'reflect-metadata';
import { EXIT } from './exit-codes';
import { runCommandLine } from './run-command-line';

const interruption = new AbortController();
let interruptedStatus: number = EXIT.interrupted;

/** The first one stops the command in order. More of them mean the same: `npm run` passes each on a second time. */
function interrupt(status: number): void {
  if (interruption.signal.aborted) return;
  interruptedStatus = status;
  interruption.abort(new Error('interrupted'));
}

process.on('SIGINT', () => interrupt(EXIT.interrupted));
process.on('SIGTERM', () => interrupt(EXIT.terminated));
process.on('SIGHUP', () => interrupt(EXIT.terminated));
// Whoever read the output (`| head`) has seen enough. A command in a guest ends with our connection.
process.stdout.on('error', () => process.exit(EXIT.brokenPipe));
process.stderr.on('error', () => undefined);

void runCommandLine(process.argv, {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: interruption.signal,
}).then((status) => {
  // Set, not forced, so that pending output is written.
  process.exitCode = interruption.signal.aborted && status !== EXIT.ok ? interruptedStatus : status;
});
