import { stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { HostedForgeUnderTest } from '@inquest/git-forge/testing';
import { tempDir } from '@inquest/testing';
import { CircuitBreaker } from '../circuit-breaker';
import { GiteaForge, type GiteaForgeOptions } from '../gitea-forge';
import type { Patience } from '../patience';
import { commitOfRef, endPull } from './double-repositories';
import { GiteaDouble, type DoubleToken, type GiteaDoubleOptions } from './gitea-double';
import { makeTestProject, makeTokenFile } from './project-repository';

/** A token that nothing else in the world looks like. */
export const TOKEN = 'c0ffee5ec2e7ca11ab1ec0dedeadbeeff005ba11';
export const ALL_SCOPES = ['write:user', 'write:organization', 'write:repository'];

/** Waits so short that a test of many attempts ends at once. */
export const IMPATIENT: Patience = { attempts: 5, firstDelayMs: 1, maxDelayMs: 5 };

export interface GiteaFixtureOptions {
  readonly double?: Partial<Omit<GiteaDoubleOptions, 'root' | 'tokens'>>;
  /** Null: the double does not know the token. */
  readonly token?: Partial<DoubleToken> | null;
  readonly forge?: Partial<GiteaForgeOptions>;
}

/** A double, a forge that talks to it, and a project to publish. */
export interface GiteaFixture extends HostedForgeUnderTest {
  readonly double: GiteaDouble;
  readonly directory: string;
  readonly tokenFile: string;
  readonly forge: GiteaForge;
}

export async function startGiteaFixture(options: GiteaFixtureOptions = {}): Promise<GiteaFixture> {
  const directory = await tempDir();
  const project = await makeTestProject(directory.path);
  const tokenFile = await makeTokenFile(directory.path, TOKEN);
  const double = await GiteaDouble.start({
    root: path.join(directory.path, 'gitea'),
    tokens: options.token === null ? {} : { [TOKEN]: { user: 'robot', scopes: ALL_SCOPES, ...options.token } },
    organizations: ['studio'],
    ...options.double,
  });
  const owner = options.forge?.owner ?? 'robot';
  const forge = new GiteaForge({
    url: double.url,
    owner,
    tokenFile,
    requestPatience: IMPATIENT,
    readBackPatience: IMPATIENT,
    breaker: new CircuitBreaker({ failureLimit: 1000, coolDownMs: 1 }),
    ...options.forge,
  });
  const repositoryOf = (name: string) => double.repositories.get(owner, name);
  return {
    ...project,
    double,
    directory: directory.path,
    tokenFile,
    forge,
    headOf: async (name, branch) => {
      const repository = repositoryOf(name);
      return repository === null ? null : commitOfRef(repository, `refs/heads/${branch}`);
    },
    openPullRequests: async (name) =>
      (repositoryOf(name)?.pulls ?? []).map(({ title = '', body = '' }) => ({ title, body })),
    endPullRequest: async (name, number, end, options) => {
      const repository = repositoryOf(name);
      if (repository !== null) await endPull(repository, number, end, options);
    },
    releases: async (name) =>
      (repositoryOf(name)?.releases ?? [])
        .filter(({ draft }) => draft !== true)
        .map(({ tag_name = '', assets = [] }) => ({
          tag: tag_name,
          artifacts: assets.map((asset) => `${asset.name} ${asset.size}`),
        })),
    topics: async (name) => repositoryOf(name)?.topics ?? [],
    artifact: async (name, content) => {
      const filePath = path.join(directory.path, name);
      await writeFile(filePath, content);
      return { name, filePath, sizeBytes: (await stat(filePath)).size };
    },
    close: async () => {
      await double.close();
      await directory.remove();
    },
  };
}
