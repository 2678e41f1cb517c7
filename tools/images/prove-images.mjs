#!/usr/bin/env node
/**
 * Builds and freezes images for real, on a platform of its own that is taken down afterwards, kills the guest agent of a
 * machine on each and runs commands by its serial port, and of images with a screen looks at it. Takes minutes to an hour under emulation, so it is no part of the tests.
 *
 *   node tools/images/prove-images.mjs [IMAGE...]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { proveScreen } from './prove-screen.mjs';
import { proveSerialShell } from './prove-serial-shell.mjs';

const DEFAULT_IMAGES = ['debian', 'agent-cli'];
const RECIPES = path.dirname(fileURLToPath(import.meta.url));
const VMCTL = path.resolve(RECIPES, '../../apps/vmctl/dist/main.js');
/** systemd on an emulated processor of a busy machine. */
const SMOKE_TIMEOUT_MS = 30 * 60_000;

/** Runs vmctl with its output shown; how long it took, in seconds. Throws when it fails. */
async function runVmctl(home, args) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [VMCTL, ...args], {
    env: { INQUEST_SMOKE_TIMEOUT_MS: String(SMOKE_TIMEOUT_MS), ...process.env, INQUEST_HOME: home },
    stdio: 'inherit',
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`vmctl ${args.join(' ')} exited with ${code}`);
  return ((performance.now() - startedAt) / 1000).toFixed(1);
}

async function hasScreen(image) {
  return parse(await readFile(path.join(RECIPES, image, 'recipe.yaml'), 'utf8')).hasScreen === true;
}

async function proveImages(names) {
  const home = await mkdtemp(path.join(tmpdir(), 'inquest-images-'));
  const vmctl = (...args) => runVmctl(home, args);
  const rows = [];
  try {
    await vmctl('up');
    for (const image of names) {
      const row = { image, buildSeconds: await vmctl('image', 'build', image), freezeSeconds: '', screen: 'has none' };
      row.freezeSeconds = await vmctl('image', 'freeze', image);
      await vmctl('image', 'show', `${image}:1`);
      await proveSerialShell({ image, vmctl });
      if (await hasScreen(image)) {
        row.screen = path.join(tmpdir(), `inquest-screen-of-${image}.png`);
        await proveScreen({ image, picturePath: row.screen, vmctl });
      }
      rows.push(row);
    }
  } finally {
    await vmctl('down');
    await rm(home, { recursive: true, force: true });
  }
  return rows;
}

const names = process.argv.slice(2);
console.table(await proveImages(names.length === 0 ? DEFAULT_IMAGES : names));
