// From a clean clone to an agent at work in a real virtual machine, in one command.
//   npm run quickstart              sets up, builds, starts everything, runs one session, shows what came of it
//   npm run quickstart -- --down    stops everything; no process stays behind
// Everything after the set-up is `vmctl demo session`, so that it can be had without this script too.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const setup = fileURLToPath(new URL('../setup/setup.mjs', import.meta.url));
const vmctl = fileURLToPath(new URL('../../apps/vmctl/dist/main.js', import.meta.url));
const wanted = process.argv.slice(2);

if (wanted.includes('--down')) {
  if (!existsSync(vmctl)) {
    console.error('nothing was built here, so nothing of it runs');
    process.exit(0);
  }
  process.exit(await run(vmctl, ['down']));
}
const setUp = await run(setup, []);
process.exit(setUp === 0 ? await run(vmctl, ['demo', 'session', ...wanted]) : setUp);

/** Runs a script on this terminal and gives its exit code. Ctrl-C reaches it by the terminal, SIGTERM through us. */
async function run(script, args) {
  const child = spawn(process.execPath, [script, ...args], { stdio: 'inherit' });
  const pass = (signal) => child.kill(signal);
  const ignore = () => undefined;
  process.on('SIGTERM', pass);
  process.on('SIGINT', ignore);
  const [code] = await once(child, 'exit');
  process.off('SIGTERM', pass);
  process.off('SIGINT', ignore);
  return code ?? 1;
}
