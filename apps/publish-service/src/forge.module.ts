import path from 'node:path';
import { Module, type DynamicModule } from '@nestjs/common';
import { configError } from '@inquest/config';
import { GIT_FORGE, type GitForge } from '@inquest/git-forge';
import { BareGitForge } from '@inquest/git-forge-bare';
import { addressFault, GiteaForge } from '@inquest/git-forge-gitea';
import type { PublishServiceConfig } from './publish-service.config';

/** The one place that decides which forge is published to. Null: none, and the work stays on the host. */
@Module({})
export class ForgeModule {
  /** Throws `CONFIG_INVALID` for a forge that lacks its settings; the service does not start then. */
  static with(config: PublishServiceConfig): DynamicModule {
    const forge = forgeFor(config);
    return { module: ForgeModule, providers: [{ provide: GIT_FORGE, useValue: forge }], exports: [GIT_FORGE] };
  }
}

/** The forge that a configuration chooses; null for none. Throws `CONFIG_INVALID`; nothing is asked or read yet. */
export function forgeFor(config: PublishServiceConfig): GitForge | null {
  switch (config.forge) {
    case 'none':
      return null;
    case 'bare':
      return new BareGitForge(path.join(config.home, 'forge'));
    case 'gitea':
      return giteaFor(config);
  }
}

function giteaFor({
  giteaUrl,
  giteaOwner,
  giteaTokenFile,
  giteaAllowHttp,
  giteaPrivate,
}: PublishServiceConfig): GitForge {
  if (giteaUrl === undefined) throw invalid('INQUEST_GITEA_URL must be set when INQUEST_FORGE is gitea');
  if (giteaOwner === undefined) throw invalid('INQUEST_GITEA_OWNER must be set when INQUEST_FORGE is gitea');
  if (giteaTokenFile === undefined) throw invalid('INQUEST_GITEA_TOKEN_FILE must be set when INQUEST_FORGE is gitea');
  const fault = addressFault(giteaUrl, giteaAllowHttp);
  if (fault !== null) throw invalid(`INQUEST_GITEA_URL ${fault}`);
  return new GiteaForge({
    url: giteaUrl,
    owner: giteaOwner,
    tokenFile: giteaTokenFile,
    allowHttp: giteaAllowHttp,
    isPrivate: giteaPrivate,
  });
}

const invalid = (why: string) =>
  configError('CONFIG_INVALID', `the configuration is invalid: ${why}`, { variables: 1 });
