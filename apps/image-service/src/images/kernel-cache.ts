import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import { ToolPaths } from '../recipes/tool-paths';

/** The current kernel, and the one before it: a build that began with that one may still be at work. */
const KEPT_KERNELS = 2;
/** `tools/boot/fetch-kernel.mjs` gives it the time at which the kernel was last found to be current. */
const MANIFEST = 'manifest.json';

/** Unpacked kernels of the distribution. Versions have copies of their own, so only builds to come need any. */
@Injectable()
export class KernelCache {
  private readonly log = new Logger(KernelCache.name);

  constructor(private readonly tools: ToolPaths) {}

  /** Removes all kernels but those that were current last. Never rejects: it is only space. */
  async prune(): Promise<void> {
    try {
      const kernels = await this.kernels();
      for (const { directory } of kernels.slice(KEPT_KERNELS)) {
        await rm(directory, { recursive: true, force: true });
        this.log.log(`removed the kernel ${path.basename(directory)}, which builds use no more`);
      }
    } catch (e) {
      this.log.warn('kernels that builds use no more could not be removed', e);
    }
  }

  /** Newest first. Half-made ones have no manifest and are somebody's at work. */
  private async kernels(): Promise<readonly { readonly directory: string; readonly currentAtMs: number }[]> {
    const root = this.tools.kernelCache;
    const entries = await readdir(root, { withFileTypes: true });
    const kernels = await Promise.all(
      entries
        .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
        .map(async ({ name }) => {
          const manifest = await stat(path.join(root, name, MANIFEST)).catch(() => null);
          return manifest === null ? [] : [{ directory: path.join(root, name), currentAtMs: manifest.mtimeMs }];
        }),
    );
    return kernels.flat().sort((a, b) => b.currentAtMs - a.currentAtMs);
  }
}
