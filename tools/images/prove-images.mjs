#!/usr/bin/env node
/**
 * Builds and freezes images for real, on a platform of its own that is taken down afterwards. Takes minutes to an hour
 * under emulation, so it is no part of the tests.
 *
 *   node tools/images/prove-images.mjs debian agent-cli
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** EX_USAGE of sysexits.h. */
const EXIT_USAGE = 64;
const VMCTL = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../apps/vmctl/dist/main.js');

/** Runs vmctl with its output shown; how long it took, in seconds. Throws when it fails. */
async function vmctl(home, ...args) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [VMCTL, ...args], {
    env: { ...process.env, INQUEST_HOME: home },
    stdio: 'inherit',
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`vmctl ${args.join(' ')} exited with ${code}`);
  return ((performance.now() - startedAt) / 1000).toFixed(1);
}

async function proveImages(names) {
  const home = await mkdtemp(path.join(tmpdir(), 'inquest-images-'));
  const rows = [];
  try {
    await vmctl(home, 'up');
    for (const image of names) {
      const buildSeconds = await vmctl(home, 'image', 'build', image);
      const freezeSeconds = await vmctl(home, 'image', 'freeze', image);
      await vmctl(home, 'image', 'show', `${image}:1`);
      rows.push({ image, buildSeconds, freezeSeconds });
    }
  } finally {
    await vmctl(home, 'down');
    await rm(home, { recursive: true, force: true });
  }
  return rows;
}

const names = process.argv.slice(2);
if (names.length === 0) {
  console.error('usage: prove-images.mjs IMAGE...');
  process.exitCode = EXIT_USAGE;
} else {
  console.table(await proveImages(names));
}
