// Builds the web apps (projects with the tag env:browser) with Vite. One whose sources are those of its last build is
// left as it is, so that building twice costs a moment.
//   node tools/workspace/build-web.mjs
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { listProjects, workspaceRoot } from './projects.mjs';

/** In the output itself: whoever deletes that gets a new build. */
const STAMP = '.built-from-sha256';
/** What is not read by a build. */
const OUTPUTS = new Set(['dist', 'node_modules']);
const TEST_FILE = /\.(spec|medium-spec|vm-spec)\.tsx?$/;

/**
 * SHA-256 over everything that the build of a project reads: its own files, those of the workspace packages that it
 * needs, the lock file (for what comes from npm).
 * @param {string} root
 */
export function sourceDigest(root) {
  const hash = createHash('sha256').update(readFileSync(path.join(workspaceRoot, 'package-lock.json')));
  for (const file of neededRoots(root).flatMap(filesBelow)) {
    hash.update(`\0${file}\0`).update(readFileSync(path.join(workspaceRoot, file)));
  }
  return hash.digest('hex');
}

/** The folder of a project and of every workspace package it needs, directly or not, sorted. */
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

/** @param {string} directory relative to the workspace @returns {string[]} likewise, sorted */
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

async function buildWhereStale(root) {
  const stamp = path.join(workspaceRoot, root, 'dist', STAMP);
  const digest = sourceDigest(root);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  // Loaded only when there is something to build.
  const { build } = await import('vite');
  await build({ root: path.join(workspaceRoot, root), logLevel: 'warn' });
  writeFileSync(stamp, digest);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const { root, tags } of listProjects()) if (tags.includes('env:browser')) await buildWhereStale(root);
}
