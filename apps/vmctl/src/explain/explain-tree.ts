import { open, lstat, opendir, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { isDomainError, type DomainError } from '@inquest/kernel';
import { runCommand } from '@inquest/process';
import {
  FIRST_BYTES_LENGTH,
  filterTree,
  readScratchRules,
  SCRATCH_RULES_PATH,
  type FilterResult,
  type ScratchRules,
  type TreeEntry,
} from '@inquest/scratch-filter';
import { cliError } from '../errors';

/** As much as a commit takes; more is no tree of a project. */
const MAX_ENTRIES = 100_000;
/** git's exit code when there is no such commit, path or repository. */
const GIT_FATAL = 128;

/** What a commit would do with a tree. */
export interface ExplainedTree extends FilterResult {
  /** Why the project's own rules have no part in it, a `SCRATCH_RULES_*` code; null: they have, or there are none. */
  readonly rulesProblem: DomainError | null;
}

/**
 * What a commit of this git work tree would keep and hold back, by the rules of its last commit; those that cannot be
 * read are left out, as a commit leaves them out. Runs nothing that the tree could name. Throws `CLI_FILE_UNREADABLE`
 * and `CLI_TREE_TOO_LARGE`.
 */
export async function explainTree(directory: string, signal: AbortSignal): Promise<ExplainedTree> {
  const tracked = await trackedPaths(directory, signal);
  const { rules: projectRules, rulesProblem } = await rulesOfLastCommit(directory, signal);
  const entries = await readTree(directory, tracked, signal);
  return { ...filterTree(entries, { projectRules, forceInclude: [] }), rulesProblem };
}

/** Empty before the first commit, and outside any repository: then everything is new. */
async function trackedPaths(directory: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const listing = await git(directory, ['ls-tree', '-r', '-z', '--name-only', 'HEAD'], signal);
  return new Set(listing.split('\0'));
}

async function rulesOfLastCommit(
  directory: string,
  signal: AbortSignal,
): Promise<{ readonly rules: ScratchRules | null; readonly rulesProblem: DomainError | null }> {
  const text = await git(directory, ['cat-file', 'blob', `HEAD:./${SCRATCH_RULES_PATH}`], signal);
  try {
    return { rules: text === '' ? null : readScratchRules(text), rulesProblem: null };
  } catch (e) {
    if (!isDomainError(e) || !e.code.startsWith('SCRATCH_RULES_')) throw e;
    return { rules: null, rulesProblem: e };
  }
}

/** The directory may belong to somebody else: reading is all that is done. */
async function git(directory: string, args: readonly string[], signal: AbortSignal): Promise<string> {
  const { stdout } = await runCommand('git', ['-C', directory, '-c', 'safe.directory=*', ...args], {
    signal,
    acceptExitCodes: [0, GIT_FATAL],
  });
  return stdout;
}

async function readTree(top: string, tracked: ReadonlySet<string>, signal: AbortSignal): Promise<readonly TreeEntry[]> {
  const entries: TreeEntry[] = [];
  const pending = [''];
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for await (const { name } of await readable(path.join(top, directory), opendir)) {
      signal.throwIfAborted();
      const at = directory === '' ? name : `${directory}/${name}`;
      if (name === '.git') continue;
      if (entries.length === MAX_ENTRIES) {
        throw cliError('CLI_TREE_TOO_LARGE', `${top} has more than ${MAX_ENTRIES} files`, { maxEntries: MAX_ENTRIES });
      }
      const status = await readable(path.join(top, at), (file) => lstat(file));
      if (status.isDirectory()) pending.push(at);
      else if (status.isSymbolicLink())
        entries.push({ path: at, kind: 'link', sizeBytes: 0, isTracked: tracked.has(at) });
      else if (status.isFile()) entries.push(await fileEntry(top, at, status.size, tracked.has(at)));
    }
  }
  return entries;
}

async function fileEntry(top: string, at: string, sizeBytes: number, isTracked: boolean): Promise<TreeEntry> {
  const entry = { path: at, kind: 'file', sizeBytes, isTracked } as const;
  return isTracked ? entry : { ...entry, firstBytes: await firstBytes(path.join(top, at)) };
}

async function firstBytes(file: string): Promise<Uint8Array> {
  const handle: FileHandle = await readable(file, open);
  try {
    const buffer = Buffer.alloc(FIRST_BYTES_LENGTH);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

async function readable<T>(file: string, read: (file: string) => Promise<T>): Promise<T> {
  try {
    return await read(file);
  } catch (e) {
    throw cliError('CLI_FILE_UNREADABLE', `${file} cannot be read: ${(e as Error).message}`, { path: file }, e);
  }
}
