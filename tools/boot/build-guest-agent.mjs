#!/usr/bin/env node
/**
 * Builds the guest agent: a static program for linux/amd64; the same source and compiler give the same bytes.
 *
 *   node tools/boot/build-guest-agent.mjs OUT
 */
import { access, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { userInfo } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { BootToolError, runTool } from './run-tool.mjs';

const REPOSITORY = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
/** The directory of the Go module. */
export const AGENT_SOURCE = path.join(REPOSITORY, 'apps', 'guest-agent');

/** Where Debian's golang-*-dev packages put the two modules that go.mod names. */
const GO_SOURCES = '/usr/share/gocode/src';
const GO_DEPENDENCIES = [
  { module: 'github.com/hashicorp/yamux', debianPackage: 'golang-github-hashicorp-yamux-dev' },
  { module: 'golang.org/x/sys/unix', debianPackage: 'golang-golang-x-sys-dev' },
];

/**
 * The environment in which Go asks no network: no module proxy, no other toolchain, no checksum database.
 *
 * @returns {Record<string, string>}
 */
export function offlineGoEnvironment() {
  return {
    // A service may run without HOME, where Go keeps its build cache.
    HOME: process.env.HOME || userInfo().homedir,
    GO111MODULE: 'on',
    GOFLAGS: '-mod=mod',
    GOPROXY: 'off',
    GOSUMDB: 'off',
    GOTOOLCHAIN: 'local',
    GOWORK: 'off',
  };
}

/**
 * Checks that the modules the agent imports are on this host.
 *
 * @returns {Promise<void>}
 * @throws {BootToolError} naming the missing package
 */
export async function requireGoDependencies() {
  for (const { module, debianPackage } of GO_DEPENDENCIES) {
    try {
      await access(path.join(GO_SOURCES, module));
    } catch (error) {
      throw new BootToolError(
        `The Go module ${module} is not in ${GO_SOURCES}`,
        `Run: apt-get install ${debianPackage}`,
        error,
      );
    }
  }
}

/**
 * Builds the agent. `outputPath` appears only when the build has succeeded.
 *
 * @param {{ outputPath: string }} options
 * @returns {Promise<{ path: string, version: string }>}
 * @throws {BootToolError} when Go or a module is missing, or the source does not compile
 */
export async function buildGuestAgent({ outputPath }) {
  await requireGoDependencies();
  const version = JSON.parse(await readFile(path.join(REPOSITORY, 'package.json'), 'utf8')).version;
  const target = path.resolve(outputPath);
  const unfinished = `${target}.${process.pid}.tmp`;
  await mkdir(path.dirname(target), { recursive: true });
  try {
    await runTool(
      'go',
      [
        'build',
        '-trimpath',
        '-buildvcs=false',
        '-ldflags',
        `-s -w -buildid= -X main.version=${version}`,
        '-o',
        unfinished,
        './cmd/inquest-agent',
      ],
      { cwd: AGENT_SOURCE, env: { ...offlineGoEnvironment(), CGO_ENABLED: '0', GOOS: 'linux', GOARCH: 'amd64' } },
    );
    await rename(unfinished, target);
  } finally {
    await rm(unfinished, { force: true });
  }
  return { path: target, version };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const outputPath = process.argv[2];
  if (!outputPath || process.argv.length !== 3) {
    console.error('usage: build-guest-agent.mjs OUT');
    process.exit(64);
  }
  try {
    console.log(JSON.stringify(await buildGuestAgent({ outputPath })));
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
