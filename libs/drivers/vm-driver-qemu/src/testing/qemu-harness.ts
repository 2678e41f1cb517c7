import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { GuestAgentClient } from '@inquest/guest-link';
import type { VmHandle, VmSpec } from '@inquest/vm-driver';
import { sampleVmSpec, type HarnessEnding, type VmDriverHarness } from '@inquest/vm-driver/testing';
import { findInstanceProcesses } from '../process-scan';
import { QemuVmDriver } from '../qemu-vm-driver';
import { buildGuestFiles, type GuestFiles } from './guest-files';

/** A guest is up in 3 s; the machine may be five times slower and run several at once. */
const GUEST_UP_MS = 90_000;

/** Real machines with the tiny image, below one root that is removed at the end. */
export class QemuHarness implements VmDriverHarness {
  readonly driver: QemuVmDriver;
  readonly guestUpMs = GUEST_UP_MS;

  private constructor(
    private readonly root: { readonly path: string; remove(): Promise<void> },
    private readonly files: GuestFiles,
  ) {
    this.driver = this.laterDriver();
  }

  /** Owns `root`. */
  static async create(root: { readonly path: string; remove(): Promise<void> }): Promise<QemuHarness> {
    return new QemuHarness(root, await buildGuestFiles(root.path));
  }

  laterDriver(): QemuVmDriver {
    return new QemuVmDriver({ instancesRoot: this.instancesRoot });
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
    const processes = await findInstanceProcesses(this.instancesRoot);
    const running = processes.filter((process) => process.directory === directory);
    const files = await readdir(directory, { recursive: true }).catch(() => null);
    return [...running.map(({ pid }) => `process ${pid}`), ...(files === null ? [] : [directory, ...files])];
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
