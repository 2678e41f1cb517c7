import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { Matches } from 'class-validator';
import { IsNested, IsText } from '@inquest/contracts-base';
import { ImageStore, type Staging } from '@inquest/image-store';
import { ImageServiceConfig } from '../image-service.config';
import { diskOfTar } from '../import/root-import';
import { withWorkDirectory } from '../import/work-directory';
import type { Recipe } from '../recipes/recipe';
import { ToolPaths } from '../recipes/tool-paths';
import { BuildTools, buildFailed, type BuildJob } from './build-tools';
import { KernelCache } from './kernel-cache';

/** The kernel in what `build-initramfs.mjs --json` prints. */
class BuiltKernel {
  @IsText(128, 1) readonly release!: string;
  @IsText(4096, 1) readonly vmlinux!: string;
}

/** What `build-initramfs.mjs --json` prints. */
class BootFilesOutput {
  @IsNested(() => BuiltKernel) readonly kernel!: BuiltKernel;
  @IsText(64, 1) readonly agentVersion!: string;
}

/** What a recipe's build script prints. */
class ScriptOutput {
  @Matches(/^[0-9a-f]{64}$/) readonly sha256!: string;
}

/** What goes into a version's row. */
export interface BuiltParts {
  /** Apparent size of the disk, as decimal text. */
  readonly sizeBytes: string;
  readonly kernelVersion: string;
  readonly agentVersion: string;
}

/** Makes the files of a version: a disk, the distribution's kernel, the initramfs with the guest agent. */
@Injectable()
export class ImageBuilder {
  constructor(
    private readonly config: ImageServiceConfig,
    private readonly tools: ToolPaths,
    private readonly programs: BuildTools,
    private readonly kernels: KernelCache,
    @Inject(ImageStore) private readonly store: ImageStore,
  ) {}

  /** Makes and places a version of a recipe, not yet sealed. Throws what `make` throws. */
  build(recipe: Recipe, job: BuildJob): Promise<BuiltParts> {
    const script = path.join(this.tools.recipe(recipe.name), recipe.build);
    return this.make(job, async (disk) => {
      if (recipe.kind === 'script') await this.programs.run(job, ScriptOutput, script, ['--out', disk]);
      else await this.buildRoot(recipe, job, script, disk);
    });
  }

  /**
   * Makes and places a version whose disk `writeDisk` writes, not yet sealed. Throws `IMAGE_BUILD_FAILED` naming the step
   * and the end of what it printed, and what `writeDisk` throws; nothing is placed then, and the log stays.
   */
  async make(job: BuildJob, writeDisk: (disk: string) => Promise<void>): Promise<BuiltParts> {
    const staging = await this.store.stage();
    try {
      const { name, version, progress } = job;
      await progress.step(`disk of ${name}`, 5);
      const disk = staging.pathOf('disk.raw');
      await writeDisk(disk);
      const { size } = await stat(disk).catch((e: unknown) => {
        throw buildFailed(job, 'the disk', 'none was written', e);
      });
      const parts = await this.addBootFiles(staging, job);
      await this.store.place(staging, { name, version });
      return { sizeBytes: String(size), ...parts };
    } finally {
      await staging.discard();
    }
  }

  private buildRoot(recipe: Recipe, job: BuildJob, script: string, disk: string): Promise<void> {
    const { signal } = job.progress;
    return withWorkDirectory(this.tools.workRoot, async (workDirectory) => {
      const archive = path.join(workDirectory, 'root.tar');
      await this.programs.run(job, ScriptOutput, script, ['--out', archive]);
      await job.progress.step(`file system of ${recipe.name}`, 50);
      const { imageMaxBytes: maxBytes } = this.config;
      await diskOfTar(archive, disk, { workDirectory, diskBytes: recipe.sizeBytes, maxBytes, signal });
    });
  }

  private async addBootFiles(staging: Staging, job: BuildJob): Promise<Omit<BuiltParts, 'sizeBytes'>> {
    await job.progress.step('kernel, guest agent and initramfs', 70);
    await mkdir(this.tools.kernelCache, { recursive: true });
    const script = this.tools.bootTool('build-initramfs.mjs');
    const args = ['--cache', this.tools.kernelCache, '--out', staging.pathOf('initramfs.cpio')];
    const { kernel, agentVersion } = await this.programs.run(job, BootFilesOutput, script, args);
    await job.progress.step('copy of the kernel', 90);
    await staging.addCopy(kernel.vmlinux, 'vmlinux');
    await this.kernels.prune();
    return { kernelVersion: kernel.release, agentVersion };
  }
}
