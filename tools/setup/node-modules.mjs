// Installs the npm packages of the lock file, only when what is in node_modules differs from it.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const stampFile = (root) => path.join(root, 'node_modules', '.inquest-lock-sha256');

/** @param {string} root of the workspace */
export function areNodeModulesCurrent(root) {
  const digest = lockDigest(root);
  if (readIfPresent(stampFile(root))?.trim() === digest) return true;
  if (!isInstalled(root)) return false;
  writeFileSync(stampFile(root), `${digest}\n`);
  return true;
}

/**
 * Throws an Error that says what to do when npm fails.
 * @param {string} root of the workspace
 */
export function installNodeModules(root) {
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) throw new Error('npm ci failed; its output above says why. It needs the npm registry.');
  writeFileSync(stampFile(root), `${lockDigest(root)}\n`);
}

const lockDigest = (root) =>
  createHash('sha256')
    .update(readFileSync(path.join(root, 'package-lock.json')))
    .digest('hex');

/** npm itself records what it installed, also when a developer ran `npm install`: compare that with the lock file. */
function isInstalled(root) {
  const recorded = readIfPresent(path.join(root, 'node_modules', '.package-lock.json'));
  if (recorded === null) return false;
  const { packages: installed } = JSON.parse(recorded);
  const { packages: wanted } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(wanted).every(([where, { version, link, optional }]) => {
    if (!where.startsWith('node_modules/')) return true;
    const found = installed[where];
    // Optional packages are for other platforms too.
    if (found === undefined) return optional === true;
    return link === true ? existsSync(path.join(root, where)) : found.version === version;
  });
}

function readIfPresent(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}
