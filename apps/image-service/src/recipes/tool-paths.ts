import path from 'node:path';
import { Injectable } from '@nestjs/common';
import { ImageServiceConfig } from '../image-service.config';

/** In a checkout the tools are beside the apps: `apps/image-service/dist/recipes` is four levels below the top. */
const CHECKOUT_TOOLS = path.resolve(__dirname, '../../../../tools');

/** Where the builders and recipes are, and where what they make is cached. */
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

  /** The build and smoke log of a version. */
  log(name: string, version: number): string {
    return path.join(this.config.home, 'image-logs', `${name}-${version}.log`);
  }
}
