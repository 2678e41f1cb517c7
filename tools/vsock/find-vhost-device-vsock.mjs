import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROGRAM = 'vhost-device-vsock';

/** Where this project keeps the program when the host has none. */
export const VSOCK_CACHE = fileURLToPath(new URL('../../.inquest/vsock', import.meta.url));

/**
 * Looks for the program without fetching it: on the PATH, then in the cache.
 *
 * @param {string} cacheDirectory
 * @returns {Promise<string | undefined>} absolute path
 */
export async function findVhostDeviceVsock(cacheDirectory) {
  const directories = [...(process.env.PATH ?? '').split(path.delimiter).filter(path.isAbsolute), cacheDirectory];
  for (const directory of directories) {
    const candidate = path.resolve(directory, PROGRAM);
    if (await isExecutable(candidate)) return candidate;
  }
  return undefined;
}

async function isExecutable(file) {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
