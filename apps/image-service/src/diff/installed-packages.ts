import { MAX_PACKAGES, type PackageView } from '@inquest/contracts-image';
import { readGuestFile } from './debugfs';

const DPKG_STATUS = '/var/lib/dpkg/status';
/** `PackageView` takes no more. */
const MAX_FIELD_CHARS = 256;

/** Debian packages that are installed in a disk, by name; none where there is no dpkg. */
export async function installedPackages(disk: string, signal: AbortSignal): Promise<PackageView[]> {
  const status = await readGuestFile(disk, DPKG_STATUS, signal);
  return status === null ? [] : parsePackages(status);
}

/** Reads dpkg's status file (deb822, dpkg-query(1)). What is not a whole paragraph of an installed package is left out. */
export function parsePackages(status: string): PackageView[] {
  const packages = status.split(/\n\n+/).flatMap((paragraph) => {
    const field = (name: string): string => new RegExp(`^${name}: *(.+)$`, 'm').exec(paragraph)?.[1]?.trim() ?? '';
    const [name, version] = [field('Package'), field('Version')].map((text) => text.slice(0, MAX_FIELD_CHARS));
    const isInstalled = field('Status').endsWith(' installed');
    return isInstalled && name && version ? [{ name, version }] : [];
  });
  return packages.sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, MAX_PACKAGES);
}
