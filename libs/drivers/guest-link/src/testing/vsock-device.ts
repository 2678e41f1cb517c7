import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const REPOSITORY = resolve(__dirname, '../../../../..');
/** The first run downloads a package list of 10 MB and a package. */
const FETCH_DEADLINE_MS = 120_000;

/** The program that gives QEMU's guests an AF_VSOCK device, or why this host has none. */
export type VsockDevice = { readonly path: string } | { readonly path: null; readonly reason: string };

let found: VsockDevice | null = null;

/**
 * Finds vhost-device-vsock, or fetches it once. Synchronous, because Jest must know at once which tests there are.
 * Where it cannot be had, says on standard error that `unproven` is: a test that is left out must never look passed.
 */
export function requireVsockDevice(unproven: string): VsockDevice {
  found ??= obtain();
  if (found.path === null) {
    process.stderr.write(`SKIPPED: ${unproven} is unproven here: no vhost-device-vsock: ${found.reason}\n`);
  }
  return found;
}

function obtain(): VsockDevice {
  const command = [join(REPOSITORY, 'tools/vsock/fetch-vhost-device-vsock.mjs'), '--json'];
  const cache = join(REPOSITORY, '.inquest/vsock');
  try {
    const options = { timeout: FETCH_DEADLINE_MS, encoding: 'utf8', stdio: 'pipe' } as const;
    return JSON.parse(execFileSync(process.execPath, [...command, '--cache', cache], options)) as { path: string };
  } catch (e) {
    const { stderr, message } = e as Error & { readonly stderr?: string };
    return { path: null, reason: stderr?.trim().split('\n').at(-1) || message };
  }
}
