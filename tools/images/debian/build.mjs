#!/usr/bin/env node
/**
 * Builds the root of the debian image as a tar.
 *
 *   node tools/images/debian/build.mjs --out FILE [--json]
 */
import { runCommandLine } from '../../boot/command-line.mjs';
import { buildDebianRoot } from './debian-root.mjs';

await runCommandLine(import.meta.url, {
  usage: 'build.mjs --out FILE [--json]',
  required: ['out'],
  run: ({ out }, onProgress) => buildDebianRoot({ outputPath: out, onProgress }),
  summary: (root) => `${root.path}: ${root.sha256}`,
});
