import { imageStoreError } from '@inquest/image-store';
import { hasCode, toDomainError } from '@inquest/kernel';
import { runCommand, type CommandOptions, type CommandResult } from '@inquest/process';

/** strerror(ENOSPC), strerror(EDQUOT) in the C locale. A file system inside of a disk that is full says something else. */
const FULL = /No space left on device|Disk quota exceeded/;

/**
 * Runs a tool of the host that writes only below our own directories. Throws `IMAGE_STORE_FULL` when it found no space
 * there, which says nothing against what it works on, and otherwise what `runCommand` throws.
 */
export async function runHostTool(
  program: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  try {
    return await runCommand(program, args, { ...options, env: { ...options.env, LC_ALL: 'C' } });
  } catch (e) {
    const { message } = toDomainError(e);
    if (hasCode(e, 'PROCESS_FAILED') && FULL.test(message)) {
      throw imageStoreError('IMAGE_STORE_FULL', `no space left: ${message}`, {}, e);
    }
    throw e;
  }
}
