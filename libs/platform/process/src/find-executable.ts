import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import { baseEnvironment } from './environment';
import { processError } from './errors';

/** Where names were found last, by search path and name. */
const known = new Map<string, string>();

/** The absolute path of `file` (a name looked up in `searchPath`, or a path), or null when nothing there can be executed. */
export async function findExecutable(
  file: string,
  searchPath = baseEnvironment()['PATH'] ?? '',
): Promise<string | null> {
  if (file.includes('/')) return firstExecutable([path.resolve(file)]);
  const key = JSON.stringify([searchPath, file]);
  const remembered = known.get(key);
  // One look in place of one per directory.
  if (remembered !== undefined && (await isExecutableFile(remembered))) return remembered;
  const found = await firstExecutable(searchPath.split(path.delimiter).map((directory) => path.join(directory, file)));
  if (found !== null) known.set(key, found);
  return found;
}

async function firstExecutable(candidates: readonly string[]): Promise<string | null> {
  for (const candidate of candidates) {
    if (await isExecutableFile(candidate)) return candidate;
  }
  return null;
}

/** Like `findExecutable`, but throws `PROCESS_NOT_FOUND`. */
export async function getExecutable(file: string, searchPath?: string): Promise<string> {
  const found = await findExecutable(file, searchPath);
  if (found === null) throw processError('PROCESS_NOT_FOUND', `the program ${file} is not installed`, { file });
  return found;
}

async function isExecutableFile(candidate: string): Promise<boolean> {
  try {
    await access(candidate, constants.X_OK);
    return (await stat(candidate)).isFile();
  } catch {
    return false;
  }
}
