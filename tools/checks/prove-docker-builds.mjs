#!/usr/bin/env node
/**
 * Does what `docker build` would do with each Dockerfile, as far as that needs no container: on a clean clone of the last
 * commit it copies what the build stage copies, runs its commands, copies what the second stage takes of that, and starts
 * the service, which must get as far as asking for its configuration. Downloads the packages of npm for each service.
 *
 *   node tools/checks/prove-docker-builds.mjs [SERVICE...]
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { workspaceRoot } from '../workspace/projects.mjs';

const IMAGE_ROOT = '/srv/inquest';
/** What every service says that was told nothing: it has loaded all its code by then. */
const ASKS_FOR_CONFIGURATION = /CONFIG_INVALID|INQUEST_[A-Z0-9_]+/;
const COMMAND_TIMEOUT_MS = 15 * 60_000;
const START_TIMEOUT_MS = 60_000;

/** The instructions of each stage: continuations joined, comments left out. */
function stagesOf(service) {
  const lines = readFileSync(path.join(workspaceRoot, 'docker', `${service}.Dockerfile`), 'utf8')
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line !== '');
  const second = lines.findIndex((line, at) => at > 0 && line.startsWith('FROM '));
  return [lines.slice(0, second), lines.slice(second)];
}

/** Runs a command in `directory` with its output shown only when it fails. */
function run(command, args, directory) {
  // What npm and Node.js would otherwise take from whoever runs this.
  const env = { PATH: process.env.PATH, HOME: directory, npm_config_cache: path.join(tmpdir(), 'inquest-npm-cache') };
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: directory,
    env: { ...proxyVariables(), ...env },
    encoding: 'utf8',
    timeout: COMMAND_TIMEOUT_MS,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}:\n${stdout}\n${stderr}`);
}

/** The way out of this host is no part of what is proven. */
const proxyVariables = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      /^(https?_proxy|no_proxy|node_extra_ca_certs|npm_config_registry)$/i.test(name),
    ),
  );

function prove(service, clone, work) {
  const [buildStage, finalStage] = stagesOf(service);
  const [build, image] = ['build', 'image'].map((name) => path.join(work, service, name));
  for (const directory of [build, image]) mkdirSync(directory, { recursive: true });
  for (const line of buildStage) {
    if (line.startsWith('COPY ')) copy(line.split(' ').slice(1), clone, build);
    if (line.startsWith('RUN ')) run('sh', ['-ec', line.slice('RUN '.length)], build);
  }
  for (const line of finalStage.filter((candidate) => candidate.startsWith('COPY '))) {
    const [from, ...paths] = line.split(' ').slice(1);
    if (from === '--from=build')
      copy(
        paths.map((at) => path.posix.relative(IMAGE_ROOT, at) || at),
        build,
        image,
        paths,
      );
    else copy([from, ...paths], clone, image);
  }
  start(service, finalStage, image);
  rmSync(path.join(work, service), { recursive: true });
}

/** `COPY a b c target`: one source takes the target's name, several go into it. */
function copy(words, from, to, original = words) {
  const sources = words.slice(0, -1);
  const target = original.at(-1);
  for (const source of sources) {
    const into = sources.length > 1 || target.endsWith('/') ? path.join(target, path.basename(source)) : target;
    cpSync(path.join(from, source), path.join(to, into), { recursive: true, verbatimSymlinks: true });
  }
}

function start(service, stage, image) {
  const entry = JSON.parse(stage.find((line) => line.startsWith('ENTRYPOINT ')).slice('ENTRYPOINT '.length));
  const [program, ...args] = entry.slice(entry.indexOf('--') + 1);
  const { stdout, stderr } = spawnSync(program, args, {
    cwd: image,
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
    encoding: 'utf8',
    timeout: START_TIMEOUT_MS,
  });
  const said = `${stdout}${stderr}`;
  if (!ASKS_FOR_CONFIGURATION.test(said)) throw new Error(`${service} does not ask for its configuration:\n${said}`);
}

const known = readdirSync(path.join(workspaceRoot, 'docker'))
  .filter((name) => name.endsWith('.Dockerfile'))
  .map((name) => path.basename(name, '.Dockerfile'));
const wanted = process.argv.length > 2 ? process.argv.slice(2) : known;
const work = mkdtempSync(path.join(tmpdir(), 'inquest-docker-'));
try {
  const clone = path.join(work, 'clone');
  run('git', ['clone', '--quiet', '--depth', '1', `file://${workspaceRoot}`, clone], work);
  for (const service of wanted) {
    const startedAt = performance.now();
    prove(service, clone, work);
    console.log(`${service}: builds and starts (${((performance.now() - startedAt) / 1000).toFixed(0)} s)`);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
