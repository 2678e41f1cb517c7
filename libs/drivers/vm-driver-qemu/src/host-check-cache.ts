import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { HostCheck } from '@inquest/vm-driver';
import { bootId, programIdentity } from '@inquest/vm-instance';
import { probeHost } from './accelerator-probe';
import type { CompiledQemuOptions } from './qemu-options';

/** Beside the instance directories; the dot keeps it from ever being the name of one. */
export const HOST_CHECK_FILE = '.host-check.json';

/**
 * `probeHost`, once for each boot of the host: the probe of an unusable KVM takes seconds. Survives restarts of the
 * service; a change of who may use /dev/kvm is a reason to look again, and so is another QEMU: a template is continued
 * by the version that saved it alone.
 */
export async function checkHostOnce(options: CompiledQemuOptions, signal: AbortSignal): Promise<HostCheck> {
  const file = path.join(options.instancesRoot, HOST_CHECK_FILE);
  const user = String(options.qemuUser?.uid ?? null);
  const { key: qemu } = await programIdentity(options.qemuBinary);
  const key = [await bootId(), qemu, user, await kvmAccess()].join(' ');
  const known = await readCache(file, key);
  if (known !== null) return known;
  const found = await probeHost(options, signal);
  const partial = `${file}.${process.pid}.partial`;
  await writeFile(partial, JSON.stringify({ key, ...found }), { mode: 0o600 });
  await rename(partial, file);
  return found;
}

const kvmAccess = (): Promise<string> =>
  stat('/dev/kvm').then(
    ({ uid, gid, mode }) => [uid, gid, mode].join(':'),
    () => 'absent',
  );

async function readCache(file: string, key: string): Promise<HostCheck | null> {
  try {
    const cached = JSON.parse(await readFile(file, 'utf8')) as Partial<Record<'key' | keyof HostCheck, unknown>>;
    const { accelerator, reason, version } = cached;
    if (cached.key !== key || typeof reason !== 'string' || typeof version !== 'string') return null;
    return accelerator === 'kvm' || accelerator === 'tcg' ? { accelerator, reason, version } : null;
  } catch {
    // Missing or torn: the probe is run again.
    return null;
  }
}
