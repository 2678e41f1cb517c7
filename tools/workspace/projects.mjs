// The projects of the workspace: every folder with a package.json under the globs of the root's "workspaces".
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const workspaceRoot = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/**
 * @typedef {object} Manifest
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [devDependencies]
 *
 * @typedef {object} Project
 * @property {string} name package name, `@inquest/...`
 * @property {string} root folder relative to the workspace, with `/`
 * @property {string[]} tags
 * @property {Manifest} manifest content of its package.json
 */

/** @returns {Project[]} sorted by folder */
export function listProjects() {
  const { workspaces } = readJson(path.join(workspaceRoot, 'package.json'));
  const roots = workspaces.flatMap((glob) => subfolders(glob.replace(/\/\*$/, '')));
  return roots.sort().map((root) => {
    const manifest = readJson(path.join(workspaceRoot, root, 'package.json'));
    return { name: manifest.name, root, tags: manifest.nx?.tags ?? [], manifest };
  });
}

/** @param {string} file */
export const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));

const subfolders = (parent) =>
  readdirSync(path.join(workspaceRoot, parent), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${parent}/${entry.name}`)
    .filter((root) => existsSync(path.join(workspaceRoot, root, 'package.json')));
