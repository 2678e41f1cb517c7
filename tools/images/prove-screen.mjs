import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { coloursOf } from './png-pixels.mjs';

/** A colour that covers less is a line or a letter. */
const AREA_SHARE = 0.1;
/** An emulated desktop on a busy machine. */
const PATIENCE_MS = 10 * 60_000;
const LOOK_EVERY_MS = 2_000;
const MACHINE = 'prove-screen';
/** Made by what is typed into the terminal on the screen. */
const PROOF = '/tmp/typed';

/**
 * Starts a machine on an image with a screen and proves by pictures that a desktop is on it and that a terminal takes what
 * is typed. The last picture stays as `<picturePath>`.
 *
 * @param {{ image: string, picturePath: string, vmctl: (...args: string[]) => Promise<unknown> }} options
 * @throws {Error} when the screen stays black or empty, or no terminal takes what is typed
 */
export async function proveScreen({ image, picturePath, vmctl }) {
  const look = async () => {
    await rm(picturePath, { force: true });
    await vmctl('shot', MACHINE, '-o', path.resolve(picturePath));
    return readFile(picturePath);
  };
  await vmctl('new', image, '--name', MACHINE);
  try {
    await until('a desktop with a window on it', async () => {
      const areas = [...coloursOf(await look())].filter(([, share]) => share >= AREA_SHARE);
      return areas.length >= 2;
    });
    await vmctl('screen', 'click', MACHINE, '200', '200');
    await vmctl('screen', 'type', MACHINE, `touch ${PROOF}`);
    await vmctl('screen', 'key', MACHINE, 'enter');
    await until('a terminal that takes what is typed', () =>
      vmctl('run', MACHINE, `test -e ${PROOF}`).then(
        () => true,
        () => false,
      ),
    );
    await look();
  } finally {
    await vmctl('rm', MACHINE);
  }
}

async function until(what, isThere) {
  const end = performance.now() + PATIENCE_MS;
  while (!(await isThere())) {
    if (performance.now() > end) throw new Error(`the screen does not show ${what}`);
    await sleep(LOOK_EVERY_MS);
  }
}
