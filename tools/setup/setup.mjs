// Makes a fresh Debian or Ubuntu machine with Node and npm ready: distribution packages, npm packages, build.
// Plain Node without dependencies: it runs before `npm ci`. Prints what it does; quick when nothing is missing.
//   node tools/setup/setup.mjs              installs what is missing and builds
//   node tools/setup/setup.mjs --no-build   ... without the build
//   node tools/setup/setup.mjs --for-tests  ... with what only the tests need
//   node tools/setup/setup.mjs --check      only reports; exits with 1 when something is missing
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { hostPackages, testPackages } from './host-programs.mjs';
import { installPackages } from './install-packages.mjs';
import { areNodeModulesCurrent, installNodeModules } from './node-modules.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const options = new Set(process.argv.slice(2));
/** `require(esm)`, which lets CommonJS load ESM-only packages: on by default from here on. */
const MIN_NODE = [20, 19];

try {
  setUp();
} catch (e) {
  say(e.message);
  process.exit(1);
}

function setUp() {
  checkNode();
  const isRoot = process.getuid?.() === 0;
  const wanted = [...hostPackages(), ...(options.has('--for-tests') ? testPackages() : [])];
  const missing = wanted.filter(({ isPresent }) => !isPresent());
  for (const { name, purpose } of missing) say(`missing: ${name} (${purpose})`);
  const isCurrent = areNodeModulesCurrent(root);
  if (!isCurrent) say('missing: npm packages of package-lock.json');
  if (options.has('--check')) {
    if (missing.length > 0 || !isCurrent) process.exit(1);
    say('everything is there');
    return;
  }
  if (missing.length > 0) timed('apt-get', () => installAndVerify(missing, isRoot));
  if (!isCurrent) timed('npm ci', () => installNodeModules(root));
  if (!options.has('--no-build')) timed('build', build);
  if (options.has('--for-tests')) fetchVsockDevice();
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1])) return;
  throw new Error(`Node.js ${process.versions.node} is too old: at least ${MIN_NODE.join('.')} is needed`);
}

function installAndVerify(missing, isRoot) {
  installPackages(
    missing.map(({ name }) => name),
    isRoot,
  );
  const still = missing.filter(({ isPresent }) => !isPresent()).map(({ name }) => name);
  if (still.length > 0) throw new Error(`installed, but what it contains is not there: ${still.join(' ')}`);
}

function build() {
  runBuilder('node_modules/typescript/bin/tsc', '-b', path.join(root, 'tsconfig.json'));
  runBuilder('tools/workspace/build-web.mjs');
}

/** Tests do without it, and say what they then leave unproven: so does this. */
function fetchVsockDevice() {
  const cache = path.join(root, '.inquest', 'vsock');
  const command = [path.join(root, 'tools/vsock/fetch-vhost-device-vsock.mjs'), '--cache', cache];
  const { status, stderr } = spawnSync(process.execPath, command, { cwd: root, encoding: 'utf8' });
  if (status !== 0) say(`SKIPPED: vhost-device-vsock (guests with AF_VSOCK): ${stderr.trim()}`);
}

function runBuilder(script, ...args) {
  const command = [path.join(root, script), ...args];
  const { status } = spawnSync(process.execPath, command, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`the build failed; ${path.basename(script)} said why`);
}

function timed(what, work) {
  const start = performance.now();
  say(`${what} ...`);
  work();
  say(`${what}: done in ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

function say(line) {
  console.error(`setup: ${line}`);
}
