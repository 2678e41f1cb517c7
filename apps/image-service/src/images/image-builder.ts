import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { Inject, Injectable } from '@nestjs/common';
import { Matches } from 'class-validator';
import { parseDto } from '@inquest/config';
import { imageError } from '@inquest/contracts-image';
import { IsNested, IsText } from '@inquest/contracts-shared';
import { isDomainError, type DtoClass } from '@inquest/kernel';
import { ImageStore, type Staging } from '@inquest/image-store';
import { openCommand } from '@inquest/process';
import { ImageServiceConfig } from '../image-service.config';
import type { OperationProgress } from '../operations/operations.service';
import type { Recipe } from '../recipes/recipe';
import { ToolPaths } from '../recipes/tool-paths';
import { VersionLog } from './version-log';

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
class DiskOutput {
  @Matches(/^[0-9a-f]{64}$/) readonly sha256!: string;
}

/** What goes into a version's lineage. */
export interface BuiltParts {
  readonly kernelVersion: string;
  readonly agentVersion: string;
}

/** Makes the files of a version: the recipe's disk, the distribution's kernel, the initramfs with the guest agent. */
@Injectable()
export class ImageBuilder {
  constructor(
    private readonly config: ImageServiceConfig,
    private readonly tools: ToolPaths,
    @Inject(ImageStore) private readonly store: ImageStore,
    private readonly log: VersionLog,
  ) {}

  /**
   * Builds and places a version, not yet sealed. Throws `IMAGE_BUILD_FAILED` naming the step and the end of what it
   * printed; nothing is placed then, and the log stays.
   */
  async build(recipe: Recipe, version: number, progress: OperationProgress): Promise<BuiltParts> {
    const staging = await this.store.stage();
    try {
      const parts = await this.buildInto(staging, { recipe, version, progress });
      await this.store.place(staging, { name: recipe.name, version });
      return parts;
    } finally {
      await staging.discard();
    }
  }

  private async buildInto(staging: Staging, job: BuildJob): Promise<BuiltParts> {
    const { recipe, progress } = job;
    await mkdir(this.tools.kernelCache, { recursive: true });
    await progress.step('kernel, guest agent and initramfs', 5);
    const { kernel, agentVersion } = await this.runTool(
      job,
      BootFilesOutput,
      this.tools.bootTool('build-initramfs.mjs'),
      ['--cache', this.tools.kernelCache, '--out', staging.pathOf('initramfs.cpio')],
    );
    await progress.step(`disk of ${recipe.name}`, 60);
    const script = path.join(this.tools.recipe(recipe.name), recipe.build);
    await this.runTool(job, DiskOutput, script, ['--out', staging.pathOf('disk.raw')]);
    await progress.step('copy of the kernel', 90);
    await staging.addCopy(kernel.vmlinux, 'vmlinux');
    return { kernelVersion: kernel.release, agentVersion };
  }

  /** One build program to its end; what it says goes into the version's log as it comes. */
  private async runTool<T extends object>(
    job: BuildJob,
    Output: DtoClass<T>,
    script: string,
    args: readonly string[],
  ): Promise<T> {
    const { recipe, version, progress } = job;
    const tool = path.basename(script);
    await this.log.append(recipe.name, version, `== ${tool}\n`);
    try {
      const command = await openCommand(process.execPath, [script, ...args, '--json'], {
        timeoutMs: this.config.buildTimeoutMs,
        signal: progress.signal,
        onStderr: (chunk) => this.log.write(recipe.name, version, chunk),
      });
      command.stdin.end();
      const [output] = await Promise.all([text(command.stdout), command.finished]);
      return parseDto(Output, JSON.parse(output), { unknown: 'strip' });
    } catch (e) {
      if (progress.signal.aborted) throw e;
      const why = isDomainError(e) || e instanceof SyntaxError ? e.message : 'an unexpected failure';
      const details = { image: recipe.name, version, tool };
      throw imageError('IMAGE_BUILD_FAILED', `image ${recipe.name}:${version}: ${tool}: ${why}`, details, e);
    }
  }
}

/** One version on its way. */
interface BuildJob {
  readonly recipe: Recipe;
  readonly version: number;
  readonly progress: OperationProgress;
}
