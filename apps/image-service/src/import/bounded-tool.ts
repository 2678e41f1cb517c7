import type { CommandOptions } from '@inquest/process';
import { runHostTool } from './host-tool';

/** Address space and processor time of a tool that works on bytes that nobody trusts. */
const MAX_MEMORY_BYTES = 4 * 1024 * 1024 * 1024;
const MAX_CPU_S = 1_800;
/** Wall time, on a host that does much else. */
const TIMEOUT_MS = 60 * 60_000;

export interface BoundedToolOptions extends Pick<CommandOptions, 'acceptExitCodes' | 'signal'> {
  /** No file that the tool writes may become larger. */
  readonly maxFileBytes: number;
}

/** Runs a tool of the host on untrusted input, within limits that the kernel keeps. Throws what `runHostTool` throws. */
export async function runBounded(
  program: string,
  args: readonly string[],
  { maxFileBytes, ...options }: BoundedToolOptions,
): Promise<void> {
  const limits = [`--as=${MAX_MEMORY_BYTES}`, `--cpu=${MAX_CPU_S}`, `--fsize=${maxFileBytes}`];
  await runHostTool('prlimit', [...limits, program, ...args], { timeoutMs: TIMEOUT_MS, ...options });
}
