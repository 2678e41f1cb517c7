// From a clean clone to an agent at work in a real virtual machine, in one command.
//   npm run quickstart              sets up, builds, starts everything, runs one session, shows what came of it
//   npm run quickstart -- --down    stops everything; no process stays behind
// Ctrl-C at any point stops everything, too. After the set-up all is `vmctl demo session`, which can be had without
// this script.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Interruption } from './interruption.mjs';
import { runScript } from './run-script.mjs';

const setup = fileURLToPath(new URL('../setup/setup.mjs', import.meta.url));
const vmctl = fileURLToPath(new URL('../../apps/vmctl/dist/main.js', import.meta.url));

const interruption = new Interruption();
process.exitCode = process.argv.includes('--down') ? await down() : await quickstart();

/** The exit status: 0 only when everything that the demonstration shows has really happened. */
async function quickstart() {
  const steps = [
    { script: setup, args: [] },
    { script: vmctl, args: ['demo', 'session'] },
  ];
  for (const { script, args } of steps) {
    const status = await runScript(script, args, interruption);
    if (interruption.status !== null) {
      console.error('\nquickstart: interrupted; stopping everything');
      await down();
      return interruption.status;
    }
    if (status !== 0) return status;
  }
  return 0;
}

/** Whatever was left running by this or by an earlier quick start. Not to be interrupted. */
async function down() {
  if (existsSync(vmctl)) return runScript(vmctl, ['down'], null);
  console.error('nothing was built here, so nothing of it runs');
  return 0;
}
