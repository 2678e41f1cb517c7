// What a bundler reads to build a project, and a digest over it.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { listProjects, workspaceRoot } from './projects.mjs';

/** What is not read by a build. */
const OUTPUTS = new Set(['dist', 'node_modules']);
const TEST_FILE = /\.(spec|medium-spec|vm-spec)\.tsx?$/;

/**
 * SHA-256 over everything that the build of a project reads: its sources and the lock file, for what comes from npm.
 * @param {string} root folder of the project
 */
export function sourceDigest(root) {
  const hash = createHash('sha256');
  for (const file of ['package-lock.json', ...buildSources(root)]) {
    hash.update(`\0${file}\0`).update(readFileSync(path.join(workspaceRoot, file)));
  }
  return hash.digest('hex');
}

/**
 * The files of a project and of every workspace package that it needs, directly or not, without tests and outputs.
 * @param {string} root folder of the project
 * @returns {string[]} relative to the workspace, in an order that does not change
 */
export const buildSources = (root) => neededRoots(root).flatMap(filesBelow);

function neededRoots(root) {
  const projects = listProjects();
  const byName = new Map(projects.map((project) => [project.name, project]));
  const needed = new Set();
  const visit = (project) => {
    if (project === undefined || needed.has(project.root)) return;
    needed.add(project.root);
    for (const name of Object.keys(project.manifest.dependencies ?? {})) visit(byName.get(name));
  };
  visit(projects.find((project) => project.root === root));
  return [...needed].sort();
}

function filesBelow(directory) {
  return readdirSync(path.join(workspaceRoot, directory), { withFileTypes: true })
    .filter(({ name }) => !OUTPUTS.has(name) && !TEST_FILE.test(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const file = `${directory}/${entry.name}`;
      if (entry.isDirectory()) return filesBelow(file);
      return entry.isFile() ? [file] : [];
    });
}
