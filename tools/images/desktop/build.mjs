#!/usr/bin/env node
/**
 * Builds the root of the desktop image as a tar: the debian root with an X server, a window manager and a terminal.
 *
 *   node tools/images/desktop/build.mjs --out FILE [--json]
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from '../../boot/command-line.mjs';
import { buildDebianRoot } from '../debian/debian-root.mjs';

const ROOTFS = path.join(path.dirname(fileURLToPath(import.meta.url)), 'rootfs');

/** The X server finds screen, pointer and keyboard through udev, which the other images do without. */
const PACKAGES = [
  ...['xserver-xorg-core', 'xserver-xorg-input-libinput', 'udev', 'xkb-data', 'x11-xkb-utils'],
  ...['openbox', 'xterm', 'fonts-dejavu-core', 'x11-utils', 'x11-xserver-utils'],
];

await runCommandLine(import.meta.url, {
  usage: 'build.mjs --out FILE [--json]',
  required: ['out'],
  run: ({ out }, onProgress) =>
    buildDebianRoot({
      outputPath: out,
      packages: PACKAGES,
      settings: [
        `cp --recursive --no-preserve=ownership "${ROOTFS}/." "$1/" && chmod 0755 "$1/usr/local/bin/desktop-session"`,
        'chroot "$1" systemctl enable display-server.service desktop-session.service',
      ],
      onProgress,
    }),
  summary: (root) => `${root.path}: ${root.sha256}`,
});
