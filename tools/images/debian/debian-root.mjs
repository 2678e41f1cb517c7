import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runTool } from '../../boot/run-tool.mjs';

/** Files of every Debian root. */
const ROOTFS = path.join(path.dirname(fileURLToPath(import.meta.url)), 'rootfs');
const SUITE = 'bookworm';
/** The archive and its security updates; both signed with the keys of the host's debian-archive-keyring. */
const SOURCES = [
  `deb http://deb.debian.org/debian ${SUITE} main`,
  `deb http://deb.debian.org/debian-security ${SUITE}-security main`,
];
/** Two hundred packages over a slow line on a busy host. */
const TIMEOUT_MS = 60 * 60 * 1000;
/** The user that sessions run commands as. */
const AGENT_ID = 1000;

/** What an agent expects to find. No kernel: machines boot the one of their version. */
const PACKAGES = [
  ...['systemd', 'systemd-sysv', 'dbus', 'passwd', 'procps', 'iproute2', 'iputils-ping', 'kmod', 'less', 'nano'],
  ...['git', 'python3', 'python3-venv', 'python3-pip', 'curl', 'wget', 'ca-certificates', 'openssl', 'jq'],
  ...['build-essential', 'file', 'unzip', 'xz-utils', 'zip', 'ripgrep', 'sudo', 'tree'],
];

/**
 * Masked together: with the first one alone, everything that waits for a set clock waits for the second one for ever.
 * Without both, a clock that the host has pinned stays pinned.
 */
const MASKED_UNITS = ['systemd-timesyncd.service', 'systemd-time-wait-sync.service'];

/** Run in the root once its packages are there. `$1` is the root on the host (mmdebstrap's hooks). */
const SETTINGS = [
  `chroot "$1" useradd --create-home --uid ${AGENT_ID} --shell /bin/bash agent`,
  'echo "agent ALL=(ALL) NOPASSWD:ALL" > "$1/etc/sudoers.d/agent" && chmod 0440 "$1/etc/sudoers.d/agent"',
  `mkdir -p "$1/mnt/project" && chown ${AGENT_ID}:${AGENT_ID} "$1/mnt/project"`,
  'echo debian > "$1/etc/hostname"',
  'printf "127.0.0.1 localhost debian\\n::1 localhost\\n" > "$1/etc/hosts"',
  // Nobody may find the same identity in two machines: systemd makes one at the first boot of each.
  ': > "$1/etc/machine-id"',
  `cp --recursive --no-preserve=ownership "${ROOTFS}/." "$1/"`,
  'chroot "$1" systemctl enable serial-shell.service',
  ...MASKED_UNITS.map((unit) => `ln -sf /dev/null "$1/etc/systemd/system/${unit}"`),
];

/**
 * Builds a Debian root as a tar, without device nodes: guests have their own /dev. `outputPath` appears only when it is
 * complete.
 *
 * @param {{
 *   outputPath: string,
 *   packages?: readonly string[],
 *   settings?: readonly string[],
 *   onProgress?: (line: string) => void,
 * }} options `packages` and `settings` are added to those of every Debian root
 * @returns {Promise<{ path: string, sizeBytes: number, sha256: string }>}
 * @throws {BootToolError} when mmdebstrap is missing or fails
 */
export async function buildDebianRoot({ outputPath, packages = [], settings = [], onProgress = () => {} }) {
  const target = path.resolve(outputPath);
  await mkdir(path.dirname(target), { recursive: true });
  const work = await mkdtemp(path.join(path.dirname(target), '.unfinished-'));
  try {
    onProgress(`installing ${PACKAGES.length + packages.length} packages and what they need`);
    const archive = path.join(work, 'root.tar');
    await runTool('mmdebstrap', [...mmdebstrapOptions(packages, settings), SUITE, archive, ...SOURCES], {
      timeoutMs: TIMEOUT_MS,
      remediation: 'Correct what it says; without root it needs unprivileged user namespaces and newuidmap (uidmap).',
    });
    onProgress('checking the tar');
    const sha256 = await digestOf(archive);
    const { size } = await stat(archive);
    await rename(archive, target);
    return { path: target, sizeBytes: size, sha256 };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

const mmdebstrapOptions = (packages, settings) => [
  ...['--variant=minbase', '--format=tar', '--skip=output/dev', `--include=${[...PACKAGES, ...packages].join(',')}`],
  ...['--aptopt=APT::Install-Recommends "false"', '--dpkgopt=path-exclude=/usr/share/man/*'],
  ...['--dpkgopt=path-exclude=/usr/share/doc/*', '--dpkgopt=path-include=/usr/share/doc/*/copyright'],
  ...[...SETTINGS, ...settings].map((command) => `--customize-hook=${command}`),
];

async function digestOf(file) {
  const digest = createHash('sha256');
  for await (const chunk of createReadStream(file)) digest.update(chunk);
  return digest.digest('hex');
}
