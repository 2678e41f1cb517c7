import path from 'node:path';
import { Injectable } from '@nestjs/common';
import { ImageServiceConfig } from '../image-service.config';

/** In a checkout the tools are beside the apps: `apps/image-service/dist/recipes` is four levels below the top. */
const CHECKOUT_TOOLS = path.resolve(__dirname, '../../../../tools');

/** Where the builders and recipes are, and where what goes into versions is kept. */
@Injectable()
export class ToolPaths {
  constructor(private readonly config: ImageServiceConfig) {}

  get tools(): string {
    return this.config.toolsDirectory ?? CHECKOUT_TOOLS;
  }

  get recipes(): string {
    return path.join(this.tools, 'images');
  }

  recipe(name: string): string {
    return path.join(this.recipes, name);
  }

  bootTool(file: string): string {
    return path.join(this.tools, 'boot', file);
  }

  get kernelCache(): string {
    return path.join(this.config.home, 'kernels');
  }

  get imagesRoot(): string {
    return path.join(this.config.home, 'images');
  }

  /** The one directory from which images are imported by path. */
  get importDirectory(): string {
    return this.config.importDirectory ?? path.join(this.config.home, 'imports');
  }

  /** Sources and half-made disks of operations that are at work; on the file system of the images. */
  get workRoot(): string {
    return path.join(this.config.home, 'image-work');
  }

  /** The build and smoke log of a version. */
  log(name: string, version: number): string {
    return path.join(this.config.home, 'image-logs', `${name}-${version}.log`);
  }
}
