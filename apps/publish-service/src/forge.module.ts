import path from 'node:path';
import { Module, type DynamicModule } from '@nestjs/common';
import { GIT_FORGE } from '@inquest/git-forge';
import { BareGitForge } from '@inquest/git-forge-bare';
import type { PublishServiceConfig } from './publish-service.config';

/** The one place that decides which forge is published to. Null: none, and the work stays on the host. */
@Module({})
export class ForgeModule {
  static with({ forge, home }: PublishServiceConfig): DynamicModule {
    const useFactory = () => (forge === 'bare' ? new BareGitForge(path.join(home, 'forge')) : null);
    return { module: ForgeModule, providers: [{ provide: GIT_FORGE, useFactory }], exports: [GIT_FORGE] };
  }
}
