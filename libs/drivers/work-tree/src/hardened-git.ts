import { mkdir } from 'node:fs/promises';
import { openCommand, runCommandBytes, type OpenCommand } from '@inquest/process';

/** Settings that make git run nothing of its own accord, and refuse what could harm a checkout elsewhere. */
const SETTINGS = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.attributesFile': '/dev/null',
  'core.excludesFile': '/dev/null',
  'core.askPass': '',
  'core.pager': 'cat',
  'core.quotePath': 'false',
  // A second look, by git itself, at what safe-path.ts refuses: names that are `.git` on HFS+ and NTFS.
  'core.protectHFS': 'true',
  'core.protectNTFS': 'true',
  // An acknowledged commit survives a power cut.
  'core.fsync': 'objects,reference',
  'core.fsyncMethod': 'batch',
  'credential.helper': '',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'protocol.allow': 'never',
  'protocol.file.allow': 'user',
  'protocol.http.allow': 'user',
  'protocol.https.allow': 'user',
  'submodule.recurse': 'false',
} as const satisfies Readonly<Record<string, string>>;

/** See git-config(1) and git(1). No file outside the repository configures anything, and nobody is asked anything. */
const HARDENED_ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '/bin/false',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_PAGER: 'cat',
  LC_ALL: 'C',
  GIT_CONFIG_COUNT: String(Object.keys(SETTINGS).length),
  ...Object.fromEntries(Object.keys(SETTINGS).map((key, index) => [`GIT_CONFIG_KEY_${index}`, key])),
  ...Object.fromEntries(Object.values(SETTINGS).map((value, index) => [`GIT_CONFIG_VALUE_${index}`, value])),
};

export interface GitRun {
  readonly signal: AbortSignal;
  readonly input?: string | Uint8Array;
  /** Added to the hardened environment, e.g. GIT_INDEX_FILE. */
  readonly env?: Readonly<Record<string, string>>;
  /** Exit codes that are a result. Default: only 0. */
  readonly acceptExitCodes?: readonly number[];
}

export interface GitResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

const TIMEOUT_MS = 120_000;
const COMMIT_ID = /^[0-9a-f]{40}$/;
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024; // a listing of a million paths

/**
 * Git on one repository, without anything that its files, its attributes, its hooks or the host's configuration could
 * make it run. The repository is named, never searched for.
 */
export class HardenedGit {
  constructor(readonly gitDirectory: string) {}

  /** Makes a bare repository without templates unless one is there. */
  static async init(gitDirectory: string, signal: AbortSignal): Promise<HardenedGit> {
    await mkdir(gitDirectory, { recursive: true, mode: 0o700 });
    const git = new HardenedGit(gitDirectory);
    await git.run(['init', '--quiet', '--bare', '--template=', '--initial-branch=main', '--object-format=sha1'], {
      signal,
    });
    // In the repository too: what serves a push to it does not see the settings of whoever pushes.
    await git.run(['config', 'core.fsync', SETTINGS['core.fsync']], { signal });
    await git.run(['config', 'core.fsyncMethod', SETTINGS['core.fsyncMethod']], { signal });
    return git;
  }

  /** Runs a git command to its end. Throws the `PROCESS_*` codes and `OPERATION_ABORTED`. */
  run(args: readonly string[], { signal, input, env, acceptExitCodes }: GitRun): Promise<GitResult> {
    return runCommandBytes('git', [`--git-dir=${this.gitDirectory}`, ...args], {
      cwd: '/',
      env: { ...HARDENED_ENVIRONMENT, ...env },
      signal,
      timeoutMs: TIMEOUT_MS,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      ...(input === undefined ? {} : { input }),
      ...(acceptExitCodes === undefined ? {} : { acceptExitCodes }),
    });
  }

  /** True when the repository has this commit; false also for what is no full commit id. */
  hasCommit(commit: string, signal: AbortSignal): Promise<boolean> {
    return this.says(['cat-file', '-e', `${commit}^{commit}`], [commit], signal);
  }

  /** True when `commit` is `ancestor` or stands on it; false also when the repository does not have one of them. */
  standsOn(commit: string, ancestor: string, signal: AbortSignal): Promise<boolean> {
    return this.says(['merge-base', '--is-ancestor', ancestor, commit], [commit, ancestor], signal);
  }

  /** Asks git something about commits that it answers with its exit code. */
  private async says(args: readonly string[], commits: readonly string[], signal: AbortSignal): Promise<boolean> {
    if (!commits.every((id) => COMMIT_ID.test(id))) return false;
    return (await this.run(args, { signal, acceptExitCodes: [0, 1, 128] })).exitCode === 0;
  }

  /** `run`, as text without the line end. */
  async line(args: readonly string[], options: GitRun): Promise<string> {
    return (await this.run(args, options)).stdout.toString('utf8').trimEnd();
  }

  /** Starts a git command whose output is streamed. */
  open(args: readonly string[], { signal }: Pick<GitRun, 'signal'>): Promise<OpenCommand> {
    return openCommand('git', [`--git-dir=${this.gitDirectory}`, ...args], {
      cwd: '/',
      env: HARDENED_ENVIRONMENT,
      signal,
      timeoutMs: TIMEOUT_MS,
    });
  }
}

/** Options with which `git push` makes a branch and moves none: the branch must not be there. Nothing is overwritten. */
export const onlyWhenMissing = (branch: string): readonly string[] => [`--force-with-lease=refs/heads/${branch}:`];
