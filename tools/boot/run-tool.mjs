import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execFileAsync = promisify(execFile);

/** The most output of a tool that is kept, in bytes: a package list of the whole distribution is smaller. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** A download or a compilation on a busy machine takes minutes; one that takes longer has hung. */
const DEFAULT_TIMEOUT_MS = 15 * 60 * 1000;

/** A step that failed. The message says which one, on what, and what to do next. */
export class BootToolError extends Error {
  /**
   * @param {string} message what happened and on which object
   * @param {string} remediation what to do next
   * @param {unknown} [cause]
   */
  constructor(message, remediation, cause) {
    super(`${message}. ${remediation}`, { cause });
    this.name = 'BootToolError';
    this.remediation = remediation;
  }
}

/**
 * Runs a program of the host, without a shell, and returns its standard output.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: Record<string, string>, timeoutMs?: number, remediation?: string, encoding?: 'utf8' | 'buffer', maxOutputBytes?: number }} [options]
 *   `env` is added to the environment of this process; `remediation` is for a program that fails.
 * @returns {Promise<string | Buffer>} a Buffer when the encoding says so
 * @throws {BootToolError} when the program is missing, fails or takes longer than `timeoutMs`
 */
export async function runTool(program, args, options = {}) {
  try {
    const { stdout } = await execFileAsync(program, args, {
      cwd: options.cwd,
      env: { ...process.env, PATH: toolPath(), LC_ALL: 'C', ...options.env },
      timeout: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      maxBuffer: options.maxOutputBytes ?? MAX_OUTPUT_BYTES,
      encoding: options.encoding ?? 'utf8',
    });
    return stdout;
  } catch (error) {
    throw toolError(program, args, options, error);
  }
}

/** The tools of file systems are where Debian's users do not look for programs. */
function toolPath() {
  return [process.env.PATH ?? '/usr/bin:/bin', '/usr/sbin', '/sbin'].join(':');
}

function toolError(program, args, options, error) {
  if (error.code === 'ENOENT') {
    return new BootToolError(`The program ${program} is not installed`, packageAdvice(program), error);
  }
  const words = String(error.stderr ?? '').trim() || error.message;
  const how = error.killed ? 'did not end in time' : `failed (${error.code ?? error.signal})`;
  return new BootToolError(
    `${program} ${args.join(' ')} ${how}: ${words}`,
    options.remediation ?? 'Correct what it says and run this again.',
    error,
  );
}

/** The Debian packages of the programs used here. */
const PACKAGE_OF = {
  'apt-cache': 'apt',
  'apt-get': 'apt',
  cpio: 'cpio',
  'dpkg-deb': 'dpkg',
  go: 'golang-go',
  gofmt: 'golang-go',
  gzip: 'gzip',
  lz4: 'lz4',
  debugfs: 'e2fsprogs',
  e2fsck: 'e2fsprogs',
  mke2fs: 'e2fsprogs',
  mmdebstrap: 'mmdebstrap',
  xz: 'xz-utils',
  zstd: 'zstd',
};

/**
 * Says how to get a program that is missing.
 *
 * @param {string} program
 * @returns {string}
 */
export function packageAdvice(program) {
  const debianPackage = PACKAGE_OF[program];
  if (debianPackage === 'apt' || debianPackage === 'dpkg') {
    return 'This step needs a Debian or Ubuntu host; on another one, copy the finished files from such a host.';
  }
  return debianPackage ? `Run: apt-get install ${debianPackage}` : `Install ${program} and run this again.`;
}
