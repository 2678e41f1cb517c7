// Installs Debian packages with apt-get, as root or through a sudo that asks nothing.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { hasPrograms } from './host-programs.mjs';

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const INSTALL = 'apt-get install -y --no-install-recommends';

/**
 * Installs what is missing and returns; throws an Error with the command to run by hand where that is not possible.
 * No service of a package is started or left enabled: Inquest starts its own processes.
 * @param {string[]} names
 * @param {boolean} isRoot
 */
export function installPackages(names, isRoot) {
  const byHand = `${isRoot ? '' : 'sudo '}sh -c 'apt-get update && ${INSTALL} ${names.join(' ')}'`;
  if (!hasPrograms('apt-get')) {
    throw new Error(`this host has no apt-get; install what these Debian packages contain: ${names.join(' ')}`);
  }
  const prefix = isRoot ? [] : ['sudo', '-n'];
  if (!isRoot && !(hasPrograms('sudo') && run(['sudo', '-n', 'true']).isDone)) {
    throw new Error(`not root, and sudo would ask for a password. Run this, then try again:\n\n  ${byHand}\n`);
  }
  const { isDone, output } = run([...prefix, 'sh', '-c', script(names)]);
  if (!isDone) throw new Error(`${output}\napt-get failed. Run it by hand:\n\n  ${byHand}\n`);
}

/** One script, because each part needs the same rights. */
const script = (names) => `
set -e
export DEBIAN_FRONTEND=noninteractive
if [ ! -e /usr/sbin/policy-rc.d ]; then
  printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d
  chmod 755 /usr/sbin/policy-rc.d
  trap 'rm -f /usr/sbin/policy-rc.d' EXIT
fi
${hasPackageLists() ? '' : 'apt-get update -q'}
${INSTALL} -q ${names.join(' ')} || { apt-get update -q && ${INSTALL} -q ${names.join(' ')}; }
${names.includes('nats-server') ? 'if [ -d /run/systemd/system ]; then systemctl disable --now nats-server || true; fi' : ''}
`;

function hasPackageLists() {
  const lists = '/var/lib/apt/lists';
  return existsSync(lists) && readdirSync(lists).some((name) => name.includes('_Packages'));
}

function run([file, ...args]) {
  const { status, stdout, stderr } = spawnSync(file, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  return { isDone: status === 0, output: `${stdout}${stderr}` };
}
