// Keeps what describes a project equal to its sources:
//   package.json    "dependencies" are the workspace packages that its sources import
//   tsconfig.json   "references" are those dependencies; the root's are all projects
//   node tools/workspace/sync-projects.mjs           writes what differs
//   node tools/workspace/sync-projects.mjs --check   names what differs and exits with 1
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { listProjects, readJson, workspaceRoot } from './projects.mjs';
import { importsOf, sourceFiles } from './source-imports.mjs';

const isCheck = process.argv.includes('--check');
// A project without a tsconfig.json is not built by tsc; one for the browser is built by its own bundler.
const isBuiltByTsc = ({ manifest }) => !manifest.nx.tags.includes('env:browser');
const projects = listProjects().filter(({ root }) => existsSync(path.join(workspaceRoot, root, 'tsconfig.json')));
const rootOf = new Map(projects.map(({ name, root }) => [name, root]));

const stale = [
  [
    'tsconfig.json',
    { files: [], references: projects.filter(isBuiltByTsc).map(({ root }) => ({ path: `./${root}` })) },
  ],
  ...projects.flatMap(filesOf),
].filter(([file, wanted]) => !isSame(file, wanted));

for (const [file, wanted] of stale) {
  if (!isCheck) writeFileSync(path.join(workspaceRoot, file), `${JSON.stringify(wanted, null, 2)}\n`);
  console.error(`${isCheck ? 'out of step with the sources' : 'updated'}: ${file}`);
}
if (!isCheck && stale.length > 0) {
  const prettier = path.join(workspaceRoot, 'node_modules/prettier/bin/prettier.cjs');
  const files = stale.map(([file]) => path.join(workspaceRoot, file));
  spawnSync(process.execPath, [prettier, '--write', '--log-level', 'warn', ...files], { stdio: 'inherit' });
}
if (isCheck && stale.length > 0) {
  console.error('run `npm run sync`');
  process.exit(1);
}

function filesOf(project) {
  const { root, name, manifest } = project;
  const imported = sourceFiles(path.join(workspaceRoot, root, 'src')).flatMap(importsOf);
  const packages = imported.map(({ specifier }) => specifier.split('/').slice(0, 2).join('/'));
  const used = new Set(packages.filter((at) => rootOf.has(at) && at !== name));
  const dependencies = [...used].sort();
  const configFile = path.join(root, 'tsconfig.json');
  const references = dependencies.map((dependency) => ({ path: path.relative(root, rootOf.get(dependency)) }));
  const described = [path.join(root, 'package.json'), withDependencies(manifest, dependencies)];
  if (!isBuiltByTsc(project)) return [described];
  return [described, [configFile, { ...readJson(path.join(workspaceRoot, configFile)), references }]];
}

function withDependencies(manifest, names) {
  const { nx, ...rest } = manifest;
  delete rest.dependencies;
  if (names.length === 0) return { ...rest, nx };
  return { ...rest, dependencies: Object.fromEntries(names.map((name) => [name, '*'])), nx };
}

/** Compares values whatever their order: the layout of a file is prettier's business. */
function isSame(file, wanted) {
  const absolute = path.join(workspaceRoot, file);
  return existsSync(absolute) && canonical(readJson(absolute)) === canonical(wanted);
}

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).sort().join()}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, entry]) => `${JSON.stringify(key)}:${canonical(entry)}`);
  return `{${entries.sort().join()}}`;
}
