import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { hasCode } from '@inquest/kernel';
import { requireTemplates, supportsTemplates, VM_DRIVER, type VmDriver, type VmTemplate } from '@inquest/vm-driver';
import { MachinePaths } from '../machines/machine-paths';

/** Which template: of which version, for machines of which shape. */
export interface TemplateKey {
  readonly image: string;
  readonly version: number;
  readonly cpus: number;
  readonly memoryMib: number;
}

/** Looking at five files; the driver's host check may be under way when the service has just started. */
const OPEN_TIMEOUT_MS = 60_000;
/** The others pass through to what the monitors' user may read. */
const DIRECTORY_MODE = 0o711;

/** The templates of this node, as directories. A directory that the driver takes for no whole template is not one. */
@Injectable()
export class TemplateStore implements OnApplicationBootstrap {
  private readonly log = new Logger(TemplateStore.name);
  private swept: Promise<void> = Promise.resolve();

  constructor(
    @Inject(VM_DRIVER) private readonly driver: VmDriver,
    private readonly paths: MachinePaths,
  ) {}

  /** Removes what an earlier life left half-made, and what this host cannot continue any more. Does not wait for it. */
  onApplicationBootstrap(): void {
    this.swept = this.sweep().catch((e: unknown) => this.log.error('templates could not be looked through', e));
  }

  /** The template, or null when there is none; one that cannot be used is null too, with the reason logged. */
  async find(key: TemplateKey): Promise<VmTemplate | null> {
    const directory = this.directoryOf(key);
    return supportsTemplates(this.driver) && existsSync(directory) ? this.open(directory) : null;
  }

  /**
   * A path for a template that is about to be made, with its parent; what stood there unusable is removed. The caller
   * makes one template per key at a time.
   */
  async prepare(key: TemplateKey): Promise<string> {
    await this.swept;
    const directory = this.directoryOf(key);
    await mkdir(path.dirname(directory), { recursive: true, mode: DIRECTORY_MODE });
    await rm(directory, { recursive: true, force: true });
    return directory;
  }

  /** Removes the templates of a version for all shapes. Machines that were cloned from them keep the open files. */
  async removeOf({ image, version }: Pick<TemplateKey, 'image' | 'version'>): Promise<void> {
    await rm(path.join(this.paths.templatesRoot, image, String(version)), { recursive: true, force: true });
  }

  private directoryOf({ image, version, cpus, memoryMib }: TemplateKey): string {
    return path.join(this.paths.templatesRoot, image, String(version), `${memoryMib}-${cpus}`);
  }

  private async open(directory: string): Promise<VmTemplate | null> {
    try {
      return await requireTemplates(this.driver).openTemplate(directory, AbortSignal.timeout(OPEN_TIMEOUT_MS));
    } catch (e) {
      if (!hasCode(e, 'VM_TEMPLATE_UNFIT')) throw e;
      this.log.log((e as Error).message);
      return null;
    }
  }

  private async sweep(): Promise<void> {
    if (!supportsTemplates(this.driver)) return;
    const images = await childrenOf([this.paths.templatesRoot]);
    const versions = await childrenOf(images);
    for (const directory of await childrenOf(versions)) {
      if ((await this.open(directory)) !== null) continue;
      await rm(directory, { recursive: true, force: true });
      this.log.warn(`removed ${directory}: it was no template that machines can be cloned from`);
    }
  }
}

async function childrenOf(directories: readonly string[]): Promise<string[]> {
  const lists = await Promise.all(
    directories.map(async (directory) => {
      const names = await readdir(directory).catch(() => []);
      return names.map((name) => path.join(directory, name));
    }),
  );
  return lists.flat();
}
