import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface TempDir {
  readonly path: string;
  /** Removes it with everything in it, also what was made read-only. Removing it twice succeeds. */
  remove(): Promise<void>;
}

/** A fresh directory under the system's temporary directory, 0711: unprivileged children may pass through it. */
export async function tempDir(name = 'test'): Promise<TempDir> {
  const directory = await mkdtemp(path.join(tmpdir(), `inquest-${name}-`));
  await chmod(directory, 0o711);
  return { path: directory, remove: () => rm(directory, { recursive: true, force: true, maxRetries: 5 }) };
}
