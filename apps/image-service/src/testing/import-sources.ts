import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack, type Header } from 'tar-stream';
import { runCommand } from '@inquest/process';

export type TarEntry = Partial<Header> & { readonly name: string; readonly content?: string | Buffer };

export const sha256 = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
export const digestOfFile = async (file: string): Promise<string> => sha256(await readFile(file));

/** The least that is a root: an init program. */
export const ROOT: readonly TarEntry[] = [
  { name: './', type: 'directory', mode: 0o755 },
  { name: './sbin/init', mode: 0o755, content: '#!/bin/sh\n' },
];

export async function tarOf(entries: readonly TarEntry[]): Promise<Buffer> {
  const archive = pack();
  const bytes = buffer(archive);
  for (const { content = '', ...header } of entries) {
    const entry = archive.entry({ ...header, size: Buffer.byteLength(content) });
    entry.end(Buffer.from(content));
  }
  archive.finalize();
  return bytes;
}

/** Files of every format in one directory. */
export class ImportSources {
  constructor(readonly directory: string) {}

  at(name: string): string {
    return path.join(this.directory, name);
  }

  bytes(name: string): Promise<Buffer> {
    return readFile(this.at(name));
  }

  async write(name: string, bytes: Buffer): Promise<string> {
    await mkdir(path.dirname(this.at(name)), { recursive: true });
    await writeFile(this.at(name), bytes);
    return name;
  }

  /** An ext4 file system of 8 MiB with one file in it. */
  async ext4(name: string): Promise<string> {
    await this.write(`${name}.tree/sbin/init`, Buffer.from('#!/bin/sh\n'));
    await this.run('mke2fs', ['-q', '-F', '-t', 'ext4', '-d', this.at(`${name}.tree`), this.at(name), '8M']);
    return name;
  }

  /** A disk with one partition for each of `contents`. */
  async partitioned(name: string, ...contents: readonly Buffer[]): Promise<string> {
    const first = 2048;
    const table = Buffer.alloc(first * 512);
    table.writeUInt16LE(0xaa55, 510);
    let sector = first;
    for (const [index, { length }] of contents.entries()) {
      table.writeUInt8(0x83, 450 + index * 16);
      table.writeUInt32LE(sector, 454 + index * 16);
      table.writeUInt32LE(length / 512, 458 + index * 16);
      sector += length / 512;
    }
    return this.write(name, Buffer.concat([table, ...contents]));
  }

  async qcow2(name: string, raw: string, ...options: readonly string[]): Promise<string> {
    await this.run('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', ...options, this.at(raw), this.at(name)]);
    return name;
  }

  async run(program: string, args: readonly string[]): Promise<void> {
    await runCommand(program, args, { cwd: this.directory });
  }

  /** An OCI layout of these layers; the digest of its manifest. */
  async oci(name: string, ...layers: readonly (readonly TarEntry[])[]): Promise<string> {
    const blob = async (bytes: Buffer, mediaType: string) => {
      await this.write(`${name}/blobs/sha256/${sha256(bytes).slice(7)}`, bytes);
      return { mediaType, digest: sha256(bytes), size: bytes.length };
    };
    const described = [];
    for (const layer of layers) {
      described.push(await blob(gzipSync(await tarOf(layer)), 'application/vnd.oci.image.layer.v1.tar+gzip'));
    }
    const document = Buffer.from(JSON.stringify({ schemaVersion: 2, layers: described }));
    const manifest = await blob(document, 'application/vnd.oci.image.manifest.v1+json');
    await this.write(`${name}/index.json`, Buffer.from(JSON.stringify({ schemaVersion: 2, manifests: [manifest] })));
    await this.write(`${name}/oci-layout`, Buffer.from('{"imageLayoutVersion":"1.0.0"}'));
    return manifest.digest;
  }
}

/** What debugfs says to one command about a disk. */
export async function askDisk(disk: string, command: string): Promise<string> {
  const { stdout, stderr } = await runCommand('debugfs', ['-R', command, disk]);
  return stdout + stderr;
}
