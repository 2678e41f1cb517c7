// What Inquest needs from the distribution: Debian package names, and how to see that the thing itself is there.
import { accessSync, closeSync, constants, existsSync, openSync, readSync } from 'node:fs';
import path from 'node:path';

/** Administrators' programs are not on everybody's PATH. */
const SEARCH_PATH = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin'];

/**
 * @typedef {object} HostPackage
 * @property {string} name Debian and Ubuntu package
 * @property {string} purpose
 * @property {() => boolean} isPresent looks for what is used, not for the package: it may have come another way
 */

/** @returns {HostPackage[]} */
export const hostPackages = () => [
  { name: 'qemu-system-x86', purpose: 'runs the machines', isPresent: () => hasPrograms('qemu-system-x86_64') },
  {
    name: 'qemu-utils',
    purpose: 'makes overlays, reads disks that are imported',
    isPresent: () => hasPrograms('qemu-img'),
  },
  { name: 'nats-server', purpose: 'carries requests and events', isPresent: () => hasPrograms('nats-server') },
  { name: 'golang-go', purpose: 'builds the guest agent', isPresent: () => hasPrograms('go') },
  {
    name: 'golang-github-hashicorp-yamux-dev',
    purpose: 'guest agent: stream multiplexer',
    isPresent: () => existsSync('/usr/share/gocode/src/github.com/hashicorp/yamux'),
  },
  {
    name: 'golang-golang-x-sys-dev',
    purpose: 'guest agent: system calls',
    isPresent: () => existsSync('/usr/share/gocode/src/golang.org/x/sys'),
  },
  {
    name: 'busybox-static',
    purpose: 'user space of the tiny image',
    isPresent: () => isStaticExecutable('/bin/busybox'),
  },
  { name: 'e2fsprogs', purpose: 'makes root file systems', isPresent: () => hasPrograms('mke2fs') },
  { name: 'mmdebstrap', purpose: 'makes Debian roots', isPresent: () => hasPrograms('mmdebstrap') },
  {
    name: 'debian-archive-keyring',
    purpose: 'trust in the packages of Debian roots',
    isPresent: () => existsSync('/usr/share/keyrings/debian-archive-keyring.gpg'),
  },
  { name: 'cpio', purpose: 'makes the initramfs', isPresent: () => hasPrograms('cpio') },
  { name: 'xz-utils', purpose: 'unpacks kernels', isPresent: () => hasPrograms('xz') },
  {
    name: 'util-linux',
    purpose: 'ties processes to their owner',
    isPresent: () => hasPrograms('setpriv', 'flock', 'prlimit'),
  },
  {
    name: 'ca-certificates',
    purpose: 'trust in package servers',
    isPresent: () => existsSync('/etc/ssl/certs/ca-certificates.crt'),
  },
  { name: 'git', purpose: 'keeps what agents make', isPresent: () => hasPrograms('git') },
];

/** What only the tests need. @returns {HostPackage[]} */
export const testPackages = () => [
  { name: 'chromium', purpose: 'tests of the maintenance app', isPresent: () => hasPrograms('chromium') },
  { name: 'openssl', purpose: 'certificates of tests', isPresent: () => hasPrograms('openssl') },
  {
    name: 'fonts-dejavu-core',
    purpose: 'text in chromium',
    isPresent: () => existsSync('/usr/share/fonts/truetype/dejavu'),
  },
];

/** @param {string[]} names */
export const hasPrograms = (...names) =>
  names.every((name) => SEARCH_PATH.some((at) => isExecutable(path.join(at, name))));

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const PT_INTERP = 3; // elf(5): the program asks for a dynamic loader

/**
 * True for an ELF64 program without a dynamic loader: the guest has no libraries.
 * @param {string} file
 */
export function isStaticExecutable(file) {
  if (!isExecutable(file)) return false;
  const header = Buffer.alloc(4096);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, header, 0, header.length, 0);
  } finally {
    closeSync(descriptor);
  }
  if (header.toString('latin1', 0, 4) !== '\x7fELF') return false;
  const tableOffset = Number(header.readBigUInt64LE(32));
  const entrySize = header.readUInt16LE(54);
  const entryCount = header.readUInt16LE(56);
  for (let at = tableOffset; at < tableOffset + entryCount * entrySize && at + 4 <= header.length; at += entrySize) {
    if (header.readUInt32LE(at) === PT_INTERP) return false;
  }
  return true;
}
