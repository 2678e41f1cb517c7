import { rename, writeFile } from 'node:fs/promises';

/** Tells whoever started this process where it listens, in one step: a reader sees the whole file or none. */
export async function writeReadyFile(path: string, url: string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  await writeFile(temporary, `${JSON.stringify({ pid: process.pid, port: Number(new URL(url).port), url })}\n`);
  await rename(temporary, path);
}
