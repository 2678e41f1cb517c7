import { readFile, writeFile } from 'node:fs/promises';
import { instanceFile, type VmSpec } from '@inquest/vm-driver';

/** A specification as it is kept: what listens to a guest is a matter of the process that does. */
type StoredSpecification = Omit<VmSpec, 'listeners'>;

/** Keeps a specification in its instance directory, where only the driver's user can write it. Rejects with the system's error. */
export async function writeSpecification({ listeners: _listeners, ...stored }: VmSpec): Promise<void> {
  await writeFile(instanceFile(stored.directory, 'specification'), JSON.stringify(stored), { mode: 0o600 });
}

/** Null when there is none, or when it is cut or another directory's; never rejects. What it says is for `checkVmSpec` to judge. */
export async function readSpecification(directory: string): Promise<StoredSpecification | null> {
  try {
    const stored = JSON.parse(await readFile(instanceFile(directory, 'specification'), 'utf8')) as StoredSpecification;
    return stored.directory === directory ? stored : null;
  } catch {
    return null;
  }
}
