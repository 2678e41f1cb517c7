// All that CI checks, in one command: set-up, format, lint, types, Go tests, and one Jest run of all three speeds,
// whose summary comes last. Stops at the first failure. Arguments are handed to Jest.
import { runLanes, StepFailed } from './steps.mjs';

const setUp = { name: 'set-up', args: ['tools/setup/setup.mjs', '--no-build', '--for-tests'], isLoud: true };
const build = { name: 'build', args: ['node_modules/typescript/bin/tsc', '-b', 'tsconfig.json'] };
const web = { name: 'build of the web app', args: ['tools/workspace/build-web.mjs'] };
const types = { name: 'types of the tests', args: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.spec.json'] };
const webTypes = {
  name: 'types of the web app',
  args: ['node_modules/typescript/bin/tsc', '-p', 'apps/maintenance/tsconfig.json'],
};
const format = { name: 'format', args: ['node_modules/prettier/bin/prettier.cjs', '--check', '.', '--cache'] };
const lint = { name: 'lint', args: ['tools/checks/lint.mjs'] };
const go = { name: 'guest agent (Go)', args: ['tools/boot/test-guest-agent.mjs'] };
const jest = { name: 'tests', args: ['node_modules/jest/bin/jest.js', ...process.argv.slice(2)], isLoud: true };

try {
  await runLanes([[setUp]]);
  await runLanes([
    [build, types, webTypes, web],
    [format, lint],
  ]);
  await runLanes([[go]]);
  await runLanes([[jest]]);
} catch (e) {
  if (!(e instanceof StepFailed)) throw e;
  console.error(e.output);
  console.error(`FAILED: ${e.message}`);
  process.exit(1);
}
