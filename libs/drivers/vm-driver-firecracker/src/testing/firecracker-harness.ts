import { cp, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { GuestAgentClient } from '@inquest/guest-link';
import type { VmHandle, VmSpec } from '@inquest/vm-driver';
import { sampleVmSpec, type HarnessEnding, type VmDriverHarness } from '@inquest/vm-driver/testing';
import { buildGuestFiles, type GuestFiles } from '@inquest/vm-driver-qemu/testing';
import { FirecrackerVmDriver } from '../firecracker-vm-driver';

const REPOSITORY = path.resolve(__dirname, '../../../../..');
/** Takes Firecracker's place; see the file. */
const STAND_IN = path.join(path.relative(REPOSITORY, __dirname), 'stand-in/firecracker-stand-in.mjs');
/** What it is made of; the last is there when vhost-device-vsock is not on the PATH. */
const STAND_IN_PARTS = [path.dirname(STAND_IN), 'tools/vsock', '.inquest/vsock'];
/** A guest is up in 3 s; the machine may be five times slower and run several at once. */
const GUEST_UP_MS = 90_000;

/** Real machines of the Firecracker driver with the tiny image, run by the stand-in, below one root that is removed at the end. */
export class FirecrackerHarness implements VmDriverHarness {
  readonly driver: FirecrackerVmDriver;
  readonly guestUpMs = GUEST_UP_MS;
  readonly hasEvents = false;
  /** On x86 Firecracker outlives a guest that powers itself off, and the driver ends it then. */
  readonly poweroffExit = { code: null, signal: 'SIGKILL' };

  private constructor(
    private readonly root: { readonly path: string; remove(): Promise<void> },
    private readonly files: GuestFiles,
  ) {
    this.driver = this.laterDriver();
  }

  /** Owns `root`. */
  static async create(root: { readonly path: string; remove(): Promise<void> }): Promise<FirecrackerHarness> {
    await copyStandIn(root.path);
    return new FirecrackerHarness(root, await buildGuestFiles(root.path));
  }

  laterDriver(): FirecrackerVmDriver {
    return new FirecrackerVmDriver({
      instancesRoot: this.instancesRoot,
      firecrackerBinary: path.join(this.root.path, STAND_IN),
    });
  }

  get instancesRoot(): string {
    return path.join(this.root.path, 'machines');
  }

  makeSpec(overrides: Partial<VmSpec> = {}): VmSpec {
    const { kernelPath, initramfsPath, diskPath } = this.files;
    return sampleVmSpec(this.root.path, {
      boot: { kernelPath, initramfsPath, commandLine: [] },
      disk: { basePath: diskPath, baseFormat: 'raw' },
      ...overrides,
    });
  }

  async leftovers(directory: string): Promise<readonly string[]> {
    const files = await readdir(directory, { recursive: true }).catch(() => null);
    return [...(await processesNaming(`${directory}/`)), ...(files === null ? [] : [directory, ...files])];
  }

  async end(machine: VmHandle, ending: HarnessEnding): Promise<void> {
    if (ending === 'killed') return void process.kill(machine.pid, 'SIGKILL');
    const commands = { poweroff: 'poweroff', reset: 'reboot -f', panic: 'echo c > /proc/sysrq-trigger' } as const;
    await this.run(machine, commands[ending]);
  }

  /** Runs a shell command in a guest that is up, without waiting for its end. */
  async run(machine: VmHandle, shell: string): Promise<void> {
    await new GuestAgentClient(machine.link).exec(
      { shell },
      { detach: true, deadlineMs: GUEST_UP_MS, signal: AbortSignal.timeout(GUEST_UP_MS) },
    );
  }

  /** Ends and removes every machine and file. */
  async dispose(): Promise<void> {
    await this.laterDriver().reapOrphans(AbortSignal.timeout(GUEST_UP_MS));
    await this.root.remove();
  }
}

/** The checkout may be in a home directory, into which the user of the machines cannot look. */
async function copyStandIn(directory: string): Promise<void> {
  for (const part of STAND_IN_PARTS) {
    await cp(path.join(REPOSITORY, part), path.join(directory, part), { recursive: true }).catch((e: unknown) => {
      if ((e as NodeJS.ErrnoException).code !== 'ENOENT') throw e;
    });
  }
}

/** Every process that has this text in its arguments: also those that the stand-in started. */
async function processesNaming(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const commandLine = await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '');
    if (commandLine.includes(text)) found.push(`process ${entry}: ${commandLine.split('\0')[0]}`);
  }
  return found;
}
