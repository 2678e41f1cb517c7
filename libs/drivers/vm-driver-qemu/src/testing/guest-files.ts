import { copyFile, constants } from 'node:fs/promises';
import path from 'node:path';
import { runCommand } from '@inquest/process';

/** Files that boot the tiny image. */
export interface GuestFiles {
  readonly kernelPath: string;
  readonly initramfsPath: string;
  /** Raw. */
  readonly diskPath: string;
}

const REPOSITORY = path.resolve(__dirname, '../../../../..');
/** The first run downloads the distribution's kernel package. */
const BUILD_DEADLINE_MS = 300_000;

/** Builds the tiny guest from this checkout into `directory`; only the kernel is kept between runs. */
export async function buildGuestFiles(directory: string): Promise<GuestFiles> {
  const initramfsPath = path.join(directory, 'initramfs.cpio');
  const diskPath = path.join(directory, 'tiny.raw');
  const cache = path.join(REPOSITORY, '.inquest', 'boot-cache');
  const built = await runTool('boot/build-initramfs.mjs', ['--cache', cache, '--out', initramfsPath]);
  await runTool('images/tiny/build.mjs', ['--out', diskPath]);
  const { kernel } = built as { readonly kernel: { readonly vmlinux: string } };
  // The checkout may be in a home directory, into which the user of the machines cannot look.
  const kernelPath = path.join(directory, 'vmlinux');
  await copyFile(kernel.vmlinux, kernelPath, constants.COPYFILE_FICLONE);
  return { kernelPath, initramfsPath, diskPath };
}

async function runTool(script: string, args: readonly string[]): Promise<unknown> {
  const command = [path.join(REPOSITORY, 'tools', script), ...args, '--json'];
  const { stdout } = await runCommand(process.execPath, command, { cwd: REPOSITORY, timeoutMs: BUILD_DEADLINE_MS });
  return JSON.parse(stdout);
}
