import { appendFile, mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { GuestAgentClient } from '@inquest/guest-link';
import type { VmHandle, VmSpec } from '@inquest/vm-driver';
import {
  sampleVmSpec,
  type HarnessEnding,
  type MachineElsewhere,
  type TemplateDriverHarness,
} from '@inquest/vm-driver/testing';
import { findInstanceProcesses } from '@inquest/vm-instance';
import { instanceOfCommand } from '../instance-command';
import { QemuVmDriver } from '../qemu-vm-driver';
import { templateFile } from '../template-record';
import { buildGuestFiles, type GuestFiles } from './guest-files';
import { startElsewhere } from './machine-elsewhere';

/** A guest is up in 3 s; the machine may be five times slower and run several at once. */
const GUEST_UP_MS = 90_000;

/** Real machines with the tiny image, below one root that is removed at the end. */
export class QemuHarness implements TemplateDriverHarness {
  readonly driver: QemuVmDriver;
  readonly guestUpMs = GUEST_UP_MS;

  private templates = 0;

  private constructor(
    private readonly root: { readonly path: string; remove(): Promise<void> },
    private readonly files: GuestFiles,
  ) {
    this.driver = this.laterDriver();
  }

  /** Owns `root`. */
  static async create(root: { readonly path: string; remove(): Promise<void> }): Promise<QemuHarness> {
    const harness = new QemuHarness(root, await buildGuestFiles(root.path));
    await mkdir(harness.templatesRoot, { mode: 0o711 });
    return harness;
  }

  laterDriver(): QemuVmDriver {
    return new QemuVmDriver({ instancesRoot: this.instancesRoot });
  }

  get instancesRoot(): string {
    return path.join(this.root.path, 'machines');
  }

  private get templatesRoot(): string {
    return path.join(this.root.path, 'templates');
  }

  makeSpec(overrides: Partial<VmSpec> = {}): VmSpec {
    const { kernelPath, initramfsPath, diskPath } = this.files;
    return sampleVmSpec(this.root.path, {
      boot: { kernelPath, initramfsPath, commandLine: [] },
      disk: { basePath: diskPath, baseFormat: 'raw' },
      ...overrides,
    });
  }

  makeTemplatePath(): string {
    return path.join(this.templatesRoot, `template-${++this.templates}`);
  }

  async damageTemplate(directory: string): Promise<void> {
    await appendFile(templateFile(directory, 'memory'), 'x');
  }

  async leftovers(directory: string): Promise<readonly string[]> {
    const processes = await findInstanceProcesses(this.instancesRoot, instanceOfCommand);
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

  startElsewhere(spec: VmSpec): Promise<MachineElsewhere> {
    return startElsewhere(this.instancesRoot, spec, GUEST_UP_MS);
  }

  /** Ends and removes every machine and file. */
  async dispose(): Promise<void> {
    await this.laterDriver().reapOrphans(AbortSignal.timeout(GUEST_UP_MS));
    await this.root.remove();
  }
}
