import { stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Branch, PullRequest, Release, Repository, TopicName, User } from 'gitea-js';
import type { HostedForgeUnderTest } from '@inquest/git-forge/testing';
import { tempDir } from '@inquest/testing';
import { GiteaForge } from '../gitea-forge';
import { makeTestProject, makeTokenFile } from './project-repository';

const TIMEOUT_MS = 30_000;

/** A real server for the conformance suites; null when the environment names none. */
export function realGitea(environment: NodeJS.ProcessEnv): { readonly url: string; readonly token: string } | null {
  const { INQUEST_TEST_GITEA_URL: url, INQUEST_TEST_GITEA_TOKEN: token } = environment;
  return url === undefined || token === undefined ? null : { url, token };
}

/** The user of the token at a real server; what it makes is deleted by `close`. */
export async function startRealGitea(url: string, token: string): Promise<HostedForgeUnderTest> {
  const directory = await tempDir();
  const get = async <T>(route: string, method = 'GET', json?: object): Promise<T | null> => {
    const headers = { authorization: `token ${token}`, 'content-type': 'application/json' };
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const body = json === undefined ? {} : { body: JSON.stringify(json) };
    const response = await fetch(`${url.replace(/\/+$/, '')}/api/v1/${route}`, { method, headers, signal, ...body });
    return response.ok && response.status !== 204 ? ((await response.json()) as T) : null;
  };
  const owner = (await get<User>('user'))?.login ?? '';
  const before = new Set((await get<Repository[]>('user/repos?limit=50'))?.map(({ id }) => id));
  const tokenFile = await makeTokenFile(directory.path, token);
  const repository = (project: string): string => `repos/${owner}/${project}`;
  return {
    ...(await makeTestProject(directory.path)),
    forge: new GiteaForge({ url, owner, tokenFile, allowHttp: true }),
    headOf: async (project, branch) =>
      (await get<Branch>(`${repository(project)}/branches/${branch}`))?.commit?.id ?? null,
    openPullRequests: async (project) =>
      ((await get<PullRequest[]>(`${repository(project)}/pulls?state=all`)) ?? []).map(({ title, body }) => ({
        title: title ?? '',
        body: body ?? '',
      })),
    endPullRequest: async (project, number, end, { keepsBranch } = { keepsBranch: false }) => {
      const pull = `${repository(project)}/pulls/${number}`;
      const branch = (await get<PullRequest>(pull))?.head?.label ?? '';
      if (end === 'merged') await get(`${pull}/merge`, 'POST', { Do: 'merge' });
      else await get(pull, 'PATCH', { state: 'closed' });
      if (!keepsBranch) await get(`${repository(project)}/branches/${branch}`, 'DELETE');
    },
    releases: async (project) =>
      ((await get<Release[]>(`${repository(project)}/releases?draft=false`)) ?? []).map((release) => ({
        tag: release.tag_name ?? '',
        artifacts: (release.assets ?? []).map(({ name, size }) => `${name} ${size}`),
      })),
    topics: async (project) => (await get<TopicName>(`${repository(project)}/topics`))?.topics ?? [],
    artifact: async (name, content) => {
      const filePath = path.join(directory.path, name);
      await writeFile(filePath, content);
      return { name, filePath, sizeBytes: (await stat(filePath)).size };
    },
    close: async () => {
      const after = (await get<Repository[]>('user/repos?limit=50')) ?? [];
      // Only what this suite names so and what was not there before.
      const made = after.filter(({ id, name }) => !before.has(id) && name?.startsWith('project-'));
      for (const { name } of made) await get(`repos/${owner}/${name}`, 'DELETE');
      await directory.remove();
    },
  };
}
