#!/usr/bin/env node
/**
 * Builds the tiny image: a raw ext4 file system with busybox, without root privileges. The same busybox and files
 * give the same bytes.
 *
 *   node tools/images/tiny/build.mjs --out FILE [--json]
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import {
  access,
  chmod,
  copyFile,
  cp,
  lutimes,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from '../../boot/command-line.mjs';
import { BootToolError, runTool } from '../../boot/run-tool.mjs';

const ROOTFS = path.join(path.dirname(fileURLToPath(import.meta.url)), 'rootfs');
const BUSYBOX = '/bin/busybox';
const IMAGE_BYTES = 64 * 1024 * 1024;
/** Identifies the file system and seeds its directory hashes: fixed, so that two builds are equal. */
const FILESYSTEM_UUID = '6d1f3c52-6a0e-4c0b-9d57-7b1a5e0c7411';
/** The time of everything in the image, in seconds since 1970 (2025-01-01T00:00:00Z). 0 would mean "now" to e2fsprogs. */
const IMAGE_TIME_S = 1735689600;
/** The user `agent` of rootfs/etc/passwd. */
const AGENT_ID = 1000;
const AGENT_DIRECTORIES = ['home/agent', 'mnt/project'];
/** ext4's first inode that is not reserved (EXT4_GOOD_OLD_FIRST_INO) is lost+found; the tree follows it. */
const FIRST_TREE_INODE = 12;

/** Directories of the root, with the modes that differ from 0755. */
const DIRECTORIES = new Map([
  ['dev', 0o755],
  ['etc', 0o755],
  ['home/agent', 0o755],
  ['mnt/project', 0o755],
  ['proc', 0o755],
  ['root', 0o700],
  ['run', 0o755],
  ['sys', 0o755],
  ['tmp', 0o1777],
  ['usr/local/bin', 0o755],
  ['var/log', 0o755],
  ['var/tmp', 0o1777],
]);
const PROGRAMS = ['bin/busybox', 'etc/init.d/rcS', 'etc/init.d/rcK', 'etc/init.d/serial-shell'];

/**
 * Builds the image. `outputPath` appears only when it is complete.
 *
 * @param {{ outputPath: string, onProgress?: (line: string) => void }} options
 * @returns {Promise<{ path: string, sizeBytes: number, sha256: string }>} sizeBytes is the file's length; it is sparse
 * @throws {BootToolError} when a program is missing or fails
 */
export async function buildTinyImage({ outputPath, onProgress = () => {} }) {
  const target = path.resolve(outputPath);
  await mkdir(path.dirname(target), { recursive: true });
  const work = await mkdtemp(path.join(path.dirname(target), '.unfinished-'));
  try {
    onProgress('making the root tree');
    const tree = path.join(work, 'tree');
    await makeTree(tree);
    const names = await settleTree(tree);
    onProgress('writing the file system');
    const image = path.join(work, 'image');
    await makeFilesystem(tree, image);
    await settleInodes(image, names.length, path.join(work, 'inodes'));
    const sha256 = await digestOf(image);
    await rename(image, target);
    return { path: target, sizeBytes: IMAGE_BYTES, sha256 };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function makeTree(tree) {
  for (const [name, mode] of DIRECTORIES) {
    await mkdir(path.join(tree, name), { recursive: true });
    await chmod(path.join(tree, name), mode);
  }
  await cp(ROOTFS, tree, { recursive: true });
  const applets = await listApplets();
  await mkdir(path.join(tree, 'bin'), { recursive: true });
  await copyFile(BUSYBOX, path.join(tree, 'bin', 'busybox'));
  for (const applet of applets) {
    if (applet === 'bin/busybox') continue;
    await mkdir(path.join(tree, path.dirname(applet)), { recursive: true });
    await symlink('/bin/busybox', path.join(tree, applet));
  }
}

async function listApplets() {
  try {
    await access(BUSYBOX);
  } catch (error) {
    throw new BootToolError(`${BUSYBOX} does not exist`, 'Run: apt-get install busybox-static', error);
  }
  const listing = await runTool(BUSYBOX, ['--list-full']);
  const applets = listing.split('\n').filter((line) => line !== '');
  if (!applets.includes('sbin/init')) {
    throw new BootToolError(
      `${BUSYBOX} has no applet init`,
      'Run: apt-get install busybox-static (the package busybox is a smaller one)',
    );
  }
  return applets;
}

/** Gives every file its mode and time, and returns the names of all there are. */
async function settleTree(tree) {
  const names = [];
  for (const entry of await readdir(tree, { recursive: true, withFileTypes: true })) {
    const name = path.relative(tree, path.join(entry.parentPath ?? entry.path, entry.name));
    names.push(name);
    if (entry.isFile()) await chmod(path.join(tree, name), PROGRAMS.includes(name) ? 0o755 : 0o644);
    if (entry.isDirectory()) await chmod(path.join(tree, name), DIRECTORIES.get(name) ?? 0o755);
  }
  // Only now, and the root last: a change inside a directory changes its time.
  for (const name of [...names, '.']) await lutimes(path.join(tree, name), IMAGE_TIME_S, IMAGE_TIME_S);
  return names;
}

/** The time that the tools of e2fsprogs take for now. */
const fixedTime = { E2FSPROGS_FAKE_TIME: String(IMAGE_TIME_S), SOURCE_DATE_EPOCH: String(IMAGE_TIME_S) };

async function makeFilesystem(tree, image) {
  await writeFile(image, '', { flag: 'wx' });
  await truncate(image, IMAGE_BYTES);
  await runTool(
    'mke2fs',
    [
      ...['-q', '-F', '-t', 'ext4', '-L', 'tiny', '-U', FILESYSTEM_UUID],
      ...['-E', `hash_seed=${FILESYSTEM_UUID},root_owner=0:0,lazy_itable_init=0,lazy_journal_init=0`],
      ...['-d', tree, image],
    ],
    { env: fixedTime },
  );
}

/**
 * Sets what mke2fs takes from the host: the owner, which is whoever runs the build, and the time of the last change
 * of an inode, which nobody can set on the host.
 */
async function settleInodes(image, count, scriptPath) {
  const commands = [];
  for (let inode = FIRST_TREE_INODE; inode < FIRST_TREE_INODE + count; inode += 1) {
    commands.push(`sif <${inode}> uid 0`, `sif <${inode}> gid 0`, `sif <${inode}> ctime @${IMAGE_TIME_S}`);
  }
  for (const directory of AGENT_DIRECTORIES) {
    commands.push(`sif /${directory} uid ${AGENT_ID}`, `sif /${directory} gid ${AGENT_ID}`);
  }
  commands.push(`sif <2> ctime @${IMAGE_TIME_S}`);
  await writeFile(scriptPath, commands.map((command) => `${command}\n`).join(''));
  await runTool('debugfs', ['-w', '-f', scriptPath, image], { env: fixedTime });
  // debugfs exits with 0 whatever happens.
  await runTool('e2fsck', ['-fn', image]);
}

async function digestOf(file) {
  const digest = createHash('sha256');
  for await (const chunk of createReadStream(file)) digest.update(chunk);
  return digest.digest('hex');
}

await runCommandLine(import.meta.url, {
  usage: 'build.mjs --out FILE [--json]',
  required: ['out'],
  run: ({ out }, onProgress) => buildTinyImage({ outputPath: out, onProgress }),
  summary: (image) => `${image.path}: ${image.sha256}`,
});
