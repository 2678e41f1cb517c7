import { accessSync, constants, existsSync, openSync, closeSync, readSync } from 'node:fs';
import { StandInError } from './stand-in-error.mjs';

/** Bounds of Firecracker on x86. */
const MAX_VCPUS = 32;
const COMMAND_LINE_MAX_BYTES = 2048;
const MIN_GUEST_CID = 3;
const MAX_U32 = 0xffff_ffff;

/**
 * @typedef {object} Configuration
 * @property {{ kernel_image_path: string, initrd_path?: string, boot_args: string }} boot-source
 * @property {{ drive_id: string, path_on_host: string, is_root_device: boolean, is_read_only: boolean, cache_type?: string }[]} drives
 * @property {{ vcpu_count: number, mem_size_mib: number }} machine-config
 * @property {{ guest_cid: number, uds_path: string }} [vsock]
 * @property {object} [entropy]
 */

const isText = (value) => typeof value === 'string' && value !== '';
const isFlag = (value) => typeof value === 'boolean';
const isWithin = (min, max) => (value) => Number.isInteger(value) && value >= min && value <= max;
const optional = (check) => (value) => value === undefined || check(value);
const isReadable = (value) => isText(value) && canOpen(value, constants.R_OK);

const BOOT_SOURCE = {
  kernel_image_path: (value) => isReadable(value) && isElf64(value),
  initrd_path: optional(isReadable),
  boot_args: (value) => typeof value === 'string' && Buffer.byteLength(value) < COMMAND_LINE_MAX_BYTES,
};
const DRIVE = {
  drive_id: (value) => typeof value === 'string' && /^\w{1,64}$/.test(value),
  path_on_host: isText,
  is_root_device: isFlag,
  is_read_only: isFlag,
  cache_type: optional((value) => value === 'Unsafe' || value === 'Writeback'),
};
const MACHINE = {
  vcpu_count: isWithin(1, MAX_VCPUS),
  mem_size_mib: isWithin(1, Number.MAX_SAFE_INTEGER),
  smt: optional(isFlag),
  track_dirty_pages: optional(isFlag),
};
const VSOCK = { guest_cid: isWithin(MIN_GUEST_CID, MAX_U32), uds_path: isText };
const SECTIONS = ['boot-source', 'drives', 'machine-config', 'vsock', 'entropy'];

/**
 * Reads a configuration as strictly as Firecracker does: no unknown name, no missing or mistyped value, one root device,
 * files that can be opened as they will be used, and no socket in the way.
 *
 * @param {string} text
 * @returns {Configuration}
 * @throws {StandInError} naming the first thing that is wrong
 */
export function readConfiguration(text) {
  const configuration = parse(text);
  checkNames(configuration, SECTIONS, 'configuration');
  check(configuration['boot-source'], BOOT_SOURCE, 'boot-source');
  check(configuration['machine-config'], MACHINE, 'machine-config');
  checkDrives(configuration.drives);
  if (configuration.vsock !== undefined) checkVsock(configuration.vsock);
  if (configuration.entropy !== undefined) check(configuration.entropy, {}, 'entropy');
  return configuration;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch (e) {
    throw refuse(`Invalid JSON: ${e.message}`);
  }
}

function checkDrives(drives) {
  if (!Array.isArray(drives)) throw refuse('drives must be a list');
  drives.forEach((drive, at) => {
    check(drive, DRIVE, `drives[${at}]`);
    const mode = drive.is_read_only ? constants.R_OK : constants.R_OK | constants.W_OK;
    if (!canOpen(drive.path_on_host, mode)) throw refuse(`Unable to open the backing file ${drive.path_on_host}`);
  });
  if (drives.filter(({ is_root_device: isRoot }) => isRoot).length > 1)
    throw refuse('A root block device already exists!');
  if (new Set(drives.map(({ drive_id: id }) => id)).size !== drives.length) throw refuse('drive_id is used twice');
}

function checkVsock(vsock) {
  check(vsock, VSOCK, 'vsock');
  // Firecracker binds and does not remove what is in the way.
  if (existsSync(vsock.uds_path)) throw refuse(`Error binding to the host-side Unix socket: ${vsock.uds_path} exists`);
}

function check(section, checks, name) {
  checkNames(section, Object.keys(checks), name);
  for (const [key, isRight] of Object.entries(checks)) {
    if (!isRight(section[key])) throw refuse(`${name}.${key} cannot be ${JSON.stringify(section[key])}`);
  }
}

function checkNames(section, names, name) {
  if (typeof section !== 'object' || section === null || Array.isArray(section)) throw refuse(`${name} is no object`);
  const unknown = Object.keys(section).find((key) => !names.includes(key));
  if (unknown !== undefined) throw refuse(`${name}: unknown field \`${unknown}\``);
}

function canOpen(file, mode) {
  try {
    accessSync(file, mode);
    return true;
  } catch {
    return false;
  }
}

/** The magic of an ELF file of 64 bits, elf(5). */
function isElf64(file) {
  const magic = Buffer.alloc(5);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, magic, 0, magic.length, 0);
  } finally {
    closeSync(descriptor);
  }
  return magic.toString('latin1') === '\x7fELF\x02';
}

const refuse = (message) => new StandInError(`Configuration for VMM from one single json failed: ${message}`);
