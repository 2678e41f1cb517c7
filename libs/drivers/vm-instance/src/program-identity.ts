import { stat } from 'node:fs/promises';
import { findExecutable } from '@inquest/process';

/** The file that is started for a program, and what tells it from the one that takes its place in an upgrade. */
export interface ProgramIdentity {
  /** Absolute path; null when the program is not installed. */
  readonly file: string | null;
  /** Equal as long as the file is the same. */
  readonly key: string;
}

/** Which file a program is now. `known` is an earlier answer, for which the program need not be looked for again. */
export async function programIdentity(program: string, known: ProgramIdentity | null = null): Promise<ProgramIdentity> {
  const file = known?.file ?? (await findExecutable(program));
  const status = file === null ? null : await stat(file, { bigint: true }).catch(() => null);
  if (status !== null) return { file, key: [file, status.ino, status.size, status.mtimeNs].join(' ') };
  return known === null ? { file: null, key: `${program} absent` } : programIdentity(program);
}
