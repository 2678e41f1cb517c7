import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import type { TemplateState } from '@inquest/contracts-vm';
import { hasCode, isDomainError } from '@inquest/kernel';
import {
  supportsTemplates,
  TEMPLATE_FLAWS,
  VM_DRIVER,
  type TemplateFlaw,
  type VmDriver,
  type VmTemplate,
} from '@inquest/vm-driver';
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

/** A template, or why there is none; `why` is empty where there is nothing at all. */
type OpenedTemplate = { readonly template: VmTemplate } | { readonly flaw: TemplateFlaw; readonly why: string };

/** The templates of this node, as directories. A directory that the driver takes for no whole template is not one. */
@Injectable()
export class TemplateStore implements OnApplicationBootstrap {
  private readonly log = new Logger(TemplateStore.name);
  private swept: Promise<void> = Promise.resolve();

  constructor(
    @Inject(VM_DRIVER) private readonly driver: VmDriver,
    private readonly paths: MachinePaths,
  ) {}

  /** Removes what an earlier life left half-made. Does not wait for it. */
  onApplicationBootstrap(): void {
    this.swept = this.sweep().catch((e: unknown) => this.log.error('templates could not be looked through', e));
  }

  /** The template, or null when there is none; one that cannot be used is null too, with the reason logged. */
  async find(key: TemplateKey): Promise<VmTemplate | null> {
    const opened = await this.open(this.directoryOf(key));
    if ('template' in opened) return opened.template;
    if (opened.why !== '') this.log.log(opened.why);
    return null;
  }

  /** How a template stands that nobody makes at the moment, and why. */
  async stateOf(key: TemplateKey): Promise<{ readonly state: TemplateState; readonly detail: string }> {
    if (!supportsTemplates(this.driver)) {
      return { state: 'unsupported', detail: `the ${this.driver.name} driver has no templates` };
    }
    const opened = await this.open(this.directoryOf(key));
    if ('template' in opened) return { state: 'ready', detail: '' };
    // One that was never finished is none.
    return { state: opened.flaw === 'incomplete' ? 'missing' : opened.flaw, detail: opened.why };
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

  private async open(directory: string): Promise<OpenedTemplate> {
    if (!supportsTemplates(this.driver) || !existsSync(directory)) return { flaw: 'incomplete', why: '' };
    try {
      const template = await this.driver.openTemplate(directory, AbortSignal.timeout(OPEN_TIMEOUT_MS));
      return { template };
    } catch (e) {
      if (!hasCode(e, 'VM_TEMPLATE_UNFIT')) throw e;
      return { flaw: flawIn(e), why: (e as Error).message };
    }
  }

  private async sweep(): Promise<void> {
    if (!supportsTemplates(this.driver)) return;
    const images = await childrenOf([this.paths.templatesRoot]);
    const versions = await childrenOf(images);
    for (const directory of await childrenOf(versions)) {
      const opened = await this.open(directory);
      // What is outdated or damaged stays, so that it can be said, until it is made anew.
      if ('template' in opened || opened.flaw !== 'incomplete') continue;
      await rm(directory, { recursive: true, force: true });
      this.log.warn(`removed ${directory}: it was half a template`);
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

/** A driver that does not say has something there that is not a template. */
const flawIn = (e: unknown): TemplateFlaw =>
  TEMPLATE_FLAWS.find((flaw) => isDomainError(e) && e.details['flaw'] === flaw) ?? 'damaged';
