import { hasCode, toDomainError } from '@inquest/kernel';
import { runCommand } from '@inquest/process';
import { imageStoreError } from './errors';

/**
 * What the kernel promises of a file with fs-verity: it can never be written again, and a block that does not fit the
 * digest is never read. It still can be replaced by another file.
 */
export interface FsVerity {
  /** Turns it on for a file, for good; null, or why it cannot be had. True to its word when it was on already. */
  enable(file: string, signal: AbortSignal): Promise<string | null>;
  /**
   * The kernel's own digest of a file, `sha256:<hex>`, without reading it: the root of a hash tree, not the digest of the
   * content. Throws `IMAGE_FILE_CHANGED` for a file without fs-verity.
   */
  measure(file: string, signal: AbortSignal): Promise<string>;
}

/** Program of Debian's package of the same name: Node.js has no ioctl. */
const PROGRAM = 'fsverity';
/** It reads the whole file once to make the hash tree. */
const TIMEOUT_MS = 30 * 60_000;
/** FS_IOC_ENABLE_VERITY with EEXIST (fs-verity of the kernel's documentation). */
const ENABLED_ALREADY = /File exists/;
/** What the system said, in what the program says of it. */
const REFUSED = /FS_IOC_ENABLE_VERITY failed on '.*': (.+)$/;
/** `fsverity measure` prints the digest and the file. */
const MEASURED = /^(sha256:[0-9a-f]{64}) /;
const REASON_MAX_CHARS = 300;

/** fs-verity by the program `fsverity`, where host and file system have it. */
export const fsVerityTool: FsVerity = {
  async enable(file, signal) {
    try {
      await run(['enable', file], signal);
      return null;
    } catch (e) {
      const { message } = toDomainError(e);
      if (ENABLED_ALREADY.test(message)) return null;
      if (!hasCode(e, 'PROCESS_FAILED') && !hasCode(e, 'PROCESS_NOT_FOUND')) throw e;
      return (REFUSED.exec(message)?.[1] ?? message).slice(0, REASON_MAX_CHARS);
    }
  },

  async measure(file, signal) {
    const { stdout } = await run(['measure', file], signal).catch((e: unknown) => {
      if (!hasCode(e, 'PROCESS_FAILED')) throw e;
      throw imageStoreError('IMAGE_FILE_CHANGED', `${file} had fs-verity and has not: ${toDomainError(e).message}`);
    });
    const digest = MEASURED.exec(stdout)?.[1];
    if (digest !== undefined) return digest;
    throw imageStoreError('IMAGE_FILE_CHANGED', `${file} has no sha256 digest of fs-verity`);
  },
};

const run = (args: readonly string[], signal: AbortSignal) =>
  runCommand(PROGRAM, args, { timeoutMs: TIMEOUT_MS, signal, env: { LC_ALL: 'C' } });
