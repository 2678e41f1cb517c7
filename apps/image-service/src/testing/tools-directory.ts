import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

const INITRAMFS_TOOL = `
import { writeFileSync } from 'node:fs';
const at = (name) => process.argv[process.argv.indexOf(name) + 1];
console.error('packing the initramfs');
writeFileSync(at('--out'), 'initramfs');
const vmlinux = at('--cache') + '/vmlinux';
writeFileSync(vmlinux, 'kernel');
console.log(JSON.stringify({ kernel: { release: '6.1.0-test', vmlinux }, agentVersion: '1.0.0' }));
`;

/** Leaves a root behind like a mmdebstrap that was killed, writes an empty file system, waits while a file called `hold` is beside it, fails where one called `fail` is. */
const BUILD_SCRIPT = `
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
const beside = (name) => new URL(name, import.meta.url);
const out = process.argv[process.argv.indexOf('--out') + 1];
const root = process.env.TMPDIR + '/mmdebstrap.test';
mkdirSync(root + '/etc', { recursive: true });
writeFileSync(root + '/etc/passwd', '', { mode: 0o400 });
console.error('writing the disk: zwölf');
while (existsSync(beside('hold'))) await sleep(20);
if (existsSync(beside('fail'))) {
  console.error('no space left on device');
  process.exit(3);
}
const { status } = spawnSync('mke2fs', ['-q', '-F', '-t', 'ext4', out, '4M'], { stdio: ['ignore', 'ignore', 'inherit'] });
if (status !== 0) process.exit(4);
console.log(JSON.stringify({ sha256: '0'.repeat(64) }));
`;

export const TINY_RECIPE = `
name: tiny
description: For tests.
kind: script
build: build.mjs
sizeBytes: 16777216
memoryMib: 128
kernelArguments: [quiet]
checks:
  - name: commands run
    argv: ['true']
  - name: the shell quotes
    shell: echo "it's"
`;

/** The tools that image-service builds with, as tiny scripts: everything of a build but the contents. */
export class ToolsDirectory {
  constructor(readonly directory: string) {}

  async create(): Promise<void> {
    await mkdir(path.join(this.directory, 'boot'), { recursive: true });
    await writeFile(path.join(this.directory, 'boot', 'build-initramfs.mjs'), INITRAMFS_TOOL);
    await this.writeRecipe('tiny', TINY_RECIPE);
    await writeFile(this.fileOf('tiny', 'build.mjs'), BUILD_SCRIPT);
  }

  async writeRecipe(name: string, yaml: string): Promise<void> {
    await mkdir(path.join(this.directory, 'images', name), { recursive: true });
    await writeFile(this.fileOf(name, 'recipe.yaml'), yaml);
  }

  /** From now on builds of `tiny` hold, or fail. */
  async mark(what: 'hold' | 'fail'): Promise<void> {
    await writeFile(this.fileOf('tiny', what), '');
  }

  async unmark(what: 'hold' | 'fail'): Promise<void> {
    await rm(this.fileOf('tiny', what), { force: true });
  }

  fileOf(name: string, file: string): string {
    return path.join(this.directory, 'images', name, file);
  }
}
