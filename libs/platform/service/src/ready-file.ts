import { readFile, rename, rm, writeFile } from 'node:fs/promises';

/** What a service says about itself once it listens. */
export interface ReadyFile {
  readonly pid: number;
  readonly port: number;
  readonly url: string;
}

/** Whoever sees the file sees all of it: it appears by a rename. */
export async function writeReadyFile(path: string, contents: ReadyFile): Promise<void> {
  const unfinished = `${path}.${contents.pid}`;
  await writeFile(unfinished, `${JSON.stringify(contents)}\n`, { mode: 0o600 });
  await rename(unfinished, path);
}

/** Removes the file unless another process has replaced it. A missing or foreign file is left as it is. */
export async function removeReadyFile(path: string, pid: number): Promise<void> {
  const text = await readFile(path, 'utf8').catch(() => '');
  if (text.includes(`"pid":${pid},`)) await rm(path, { force: true });
}
