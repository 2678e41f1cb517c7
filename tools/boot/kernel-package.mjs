import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { BootToolError, runTool } from './run-tool.mjs';

/** The packages that always depend on the current full kernel: Debian's, then Ubuntu's. */
const META_PACKAGES = ['linux-image-amd64', 'linux-image-generic'];
/** Of the packages that a kernel depends on, those that are part of it. */
const KERNEL_PART = /^linux-(?:image|modules)-/;
const UPDATE_ADVICE = 'Run: apt-get update (and check that the sources of apt name a Debian or Ubuntu archive).';
const NETWORK_ADVICE = 'Check the network and the sources of apt, run apt-get update, and run this again.';

/**
 * Finds the current kernel of the distribution in apt's lists. Nothing is downloaded.
 *
 * @returns {Promise<{ release: string, version: string, packages: string[] }>} the kernel's release (uname -r), the version of its package
 *   and the packages it consists of
 * @throws {BootToolError} when apt is missing or knows no kernel
 */
export async function findKernelPackage() {
  for (const metaPackage of META_PACKAGES) {
    const packages = await kernelParts(metaPackage);
    const image = packages.find((name) => /^linux-image-\d/.test(name));
    if (image === undefined) continue;
    return { release: image.slice('linux-image-'.length), version: await candidateVersion(image), packages };
  }
  throw new BootToolError(`apt knows none of ${META_PACKAGES.join(', ')}`, UPDATE_ADVICE);
}

async function kernelParts(metaPackage) {
  const found = new Set();
  const pending = [metaPackage];
  while (pending.length > 0) {
    const name = pending.pop();
    for (const dependency of await dependenciesOf(name)) {
      if (KERNEL_PART.test(dependency) && !found.has(dependency)) {
        found.add(dependency);
        pending.push(dependency);
      }
    }
  }
  return [...found].sort();
}

async function dependenciesOf(name) {
  // apt-cache answers for a package that it does not know with nothing (and a note on standard error).
  const listing = await runTool('apt-cache', ['depends', '--important', name], { remediation: UPDATE_ADVICE }).catch(
    (error) => {
      if (/No packages found|Unable to locate/.test(error.message)) return '';
      throw error;
    },
  );
  return [...listing.matchAll(/^\s*\|?(?:Pre)?Depends: (?<name>\S+)$/gm)].map((match) => match.groups.name);
}

async function candidateVersion(name) {
  const listing = await runTool('apt-cache', ['policy', name], { remediation: UPDATE_ADVICE });
  const version = /^ {2}Candidate: (?<version>\S+)$/m.exec(listing)?.groups?.version;
  if (version === undefined || version === '(none)') {
    throw new BootToolError(`apt has no version of ${name} to download`, UPDATE_ADVICE);
  }
  return version;
}

/**
 * Downloads packages, verified by apt, and unpacks them below a directory. They are not installed.
 *
 * @param {readonly string[]} packages
 * @param {string} directory an existing directory for this alone
 * @returns {Promise<string>} the directory with the packages' tree
 * @throws {BootToolError} when the download or the unpacking fails
 */
export async function unpackPackages(packages, directory) {
  const downloads = path.join(directory, 'packages');
  const tree = path.join(directory, 'tree');
  await mkdir(downloads);
  await mkdir(tree);
  // The sandbox user of apt may not write below a private directory, and there is only a warning to gain from it.
  await runTool('apt-get', ['-q', '-o', 'APT::Sandbox::User=root', 'download', ...packages], {
    cwd: downloads,
    remediation: NETWORK_ADVICE,
  });
  for (const file of await readdir(downloads)) {
    await runTool('dpkg-deb', ['-x', path.join(downloads, file), tree]);
  }
  return tree;
}
