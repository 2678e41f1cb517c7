import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runCommand } from '@inquest/process';
import { HardenedGit } from '@inquest/work-tree';

/** A project on this host with three commits, and a file with a token. */
export interface TestProject {
  readonly repositoryPath: string;
  readonly commits: { readonly first: string; readonly second: string; readonly unrelated: string };
}

const never = new AbortController().signal;

/** Makes the project below a directory. */
export async function makeTestProject(directory: string): Promise<TestProject> {
  const repositoryPath = path.join(directory, 'project.git');
  await HardenedGit.init(repositoryPath, never);
  const git = async (...args: string[]): Promise<string> =>
    (await runCommand('git', [`--git-dir=${repositoryPath}`, ...args])).stdout.trim();
  const tree = await git('hash-object', '-t', 'tree', '-w', '/dev/null');
  const identity = ['-c', 'user.name=Ana', '-c', 'user.email=ana@example.org'];
  const commit = (message: string, ...parents: string[]): Promise<string> =>
    git(...identity, 'commit-tree', tree, '-m', message, ...parents.flatMap((id) => ['-p', id]));
  const first = await commit('first');
  return { repositoryPath, commits: { first, second: await commit('second', first), unrelated: await commit('else') } };
}

/** Writes a file of mode 0600 with a token and gives its path. */
export async function makeTokenFile(directory: string, token: string): Promise<string> {
  const file = path.join(directory, 'token');
  await writeFile(file, `${token}\n`);
  await chmod(file, 0o600);
  return file;
}
