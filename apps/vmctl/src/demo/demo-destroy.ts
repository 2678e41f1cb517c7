import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { StackLayout } from '@inquest/stack';
import type { CliContext } from '../context';
import { CheckList, expectThat, Unproven } from './check-list';
import { ensureFrozen, ensureUp } from './demo-session';
import { EphemeralMachine } from './ephemeral-machine';
import { filesBelow, localLayout } from './local-host';

const IMAGE = 'tiny';
/** Names, attributes and contents of what is destroyed, but of the two files that the agent gives each machine anew. */
const FINGERPRINT = 'tar -cf - -C / --exclude etc/machine-id --exclude etc/hostname etc usr | md5sum';
/** A clone's machine id is a mount of its own. */
const DESTROY = 'umount /etc/machine-id 2> /dev/null; rm -rf /etc /usr; sync; ls -d /etc /usr 2> /dev/null | wc -l';
const MIB = 1024 * 1024;

/**
 * Deletes /etc and /usr in a machine and shows, from the guest and from the host, that they are gone there, that a reset
 * brings them back, and that nothing of the host has changed. Throws `CLI_CHECK_FAILED` when something does not hold.
 */
export async function demoDestroy(context: CliContext): Promise<void> {
  await ensureUp(context);
  await ensureFrozen(context);
  const checks = new CheckList(context);
  const host = await hostBefore(context);
  const machine = await EphemeralMachine.start(context, { image: IMAGE });
  try {
    await destroyAndReset(context, checks, machine);
  } finally {
    await machine.remove();
  }
  await checks.check('the host is untouched', async () => {
    if (host instanceof Unproven) throw host;
    const { layout, version, system } = host;
    expectThat((await fingerprintOf(versionDirectory(layout, machine))) === version, 'a file of the image has changed');
    expectThat((await systemAttributes()) === system, 'attributes of /etc or /usr of the host have changed');
    return 'the image has its digests, /etc and /usr of the host their attributes';
  });
  checks.finish();
}

async function destroyAndReset(context: CliContext, checks: CheckList, machine: EphemeralMachine): Promise<void> {
  const pristine = await machine.output(FINGERPRINT);
  const sizeBytes = await overlayBytes(context, machine).catch((e: unknown) => e);
  await checks.check('/etc and /usr are deleted in the guest', async () => {
    const left = await machine.output(DESTROY);
    expectThat(left === '0', `${left} of the two directories are still there`);
    return 'neither is there any more';
  });
  await checks.check('the running guest survives it', () => machine.output('echo "it still runs commands"'));
  await checks.check('the host sees it: the overlay has grown', async () => {
    if (typeof sizeBytes !== 'number') throw sizeBytes;
    const grownBytes = (await overlayBytes(context, machine)) - sizeBytes;
    expectThat(grownBytes > 0, 'the overlay has not grown');
    return `by ${(grownBytes / MIB).toFixed(1)} MiB`;
  });
  await checks.check('the destroyed disk does not boot again', () => {
    const why = 'every start of a machine has a new disk, none boots a used one';
    return Promise.reject(new Unproven(`${why}; unproven: that the old one would not boot`));
  });
  await checks.check('a reset brings them back', async () => {
    const before = machine.incarnation;
    await machine.reset();
    expectThat(machine.incarnation === before + 1, `the incarnation is ${machine.incarnation}`);
    expectThat((await machine.output(FINGERPRINT)) === pristine, '/etc and /usr are not what they were');
    return 'every file as it was before';
  });
}

interface HostBefore {
  readonly layout: StackLayout;
  /** Digest of the image's files. */
  readonly version: string;
  readonly system: string;
}

async function hostBefore(context: CliContext): Promise<HostBefore | Unproven> {
  try {
    const layout = await localLayout(context, 'that the host is untouched');
    const [newest] = (await readdir(path.join(layout.images, IMAGE))).map(Number).sort((a, b) => b - a);
    const version = await fingerprintOf(path.join(layout.images, IMAGE, String(newest)));
    return { layout, version, system: await systemAttributes() };
  } catch (e) {
    if (e instanceof Unproven) return e;
    throw e;
  }
}

const versionDirectory = (layout: StackLayout, { version }: EphemeralMachine): string =>
  path.join(layout.images, IMAGE, String(version));

/** Names, sizes, modes and contents of a directory's files, as one digest. */
async function fingerprintOf(directory: string): Promise<string> {
  const hash = createHash('sha256');
  for (const file of [...(await filesBelow(directory)).keys()].sort()) {
    const { size, mode } = await stat(file);
    hash.update(`${file} ${size} ${mode}\n`);
    if ((await stat(file)).isFile()) await pipeline(createReadStream(file), hash, { end: false });
  }
  return hash.digest('hex');
}

/** Names, modes, owners and times of what stands at the top of the host's own directories, as one digest. */
async function systemAttributes(): Promise<string> {
  const hash = createHash('sha256');
  for (const directory of ['/etc', '/usr', '/usr/bin', '/usr/lib']) {
    for (const name of (await readdir(directory)).sort()) {
      const found = await stat(path.join(directory, name)).catch(() => null);
      hash.update(`${name} ${found?.ino} ${found?.mode} ${found?.uid} ${found?.size} ${found?.mtimeMs}\n`);
    }
  }
  return hash.digest('hex');
}

/** What the machine's own files occupy on the host. */
async function overlayBytes(context: CliContext, { id }: EphemeralMachine): Promise<number> {
  const layout = await localLayout(context, 'that the overlay has grown');
  let sum = 0;
  for (const [file, bytes] of await filesBelow(layout.machines)) {
    if (path.relative(layout.machines, file).startsWith(id) && file.endsWith('.qcow2')) sum += bytes;
  }
  if (sum === 0) throw new Unproven(`no overlay of ${id} is seen on this host; unproven: that it has grown`);
  return sum;
}
