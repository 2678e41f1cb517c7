#!/usr/bin/env node
/**
 * Checks the guest agent: its format, go vet and its tests. Extra arguments go to go test (-run NAME, ...; -race needs a C
 * compiler and CGO_ENABLED=1).
 *
 *   node tools/boot/test-guest-agent.mjs [ARG ...]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { AGENT_SOURCE, offlineGoEnvironment, requireGoDependencies } from './build-guest-agent.mjs';
import { BootToolError, runTool } from './run-tool.mjs';

async function checkFormat() {
  const unformatted = (await runTool('gofmt', ['-l', '.'], { cwd: AGENT_SOURCE })).trim();
  if (unformatted !== '') {
    throw new BootToolError(
      `Not in the format of gofmt: ${unformatted.replaceAll('\n', ', ')}`,
      'Run: gofmt -w on them.',
    );
  }
}

/** Runs go with its output on this terminal. Without cgo, as the agent is built: a host may have no C compiler. */
async function go(args) {
  const child = spawn('go', args, {
    cwd: AGENT_SOURCE,
    env: { CGO_ENABLED: '0', ...process.env, ...offlineGoEnvironment() },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new BootToolError(`go ${args.join(' ')} failed`, 'Correct what it says above.');
}

try {
  await requireGoDependencies();
  await checkFormat();
  await go(['vet', './...']);
  // Uncached: the golden vectors are outside of the Go module, so a change of theirs would go unnoticed.
  await go(['test', '-count=1', '-timeout=10m', ...process.argv.slice(2), './...']);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
