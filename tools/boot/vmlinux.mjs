import { compressionOf, unpack } from './compression.mjs';
import { isElf, readNotes } from './elf.mjs';
import { BootToolError } from './run-tool.mjs';

/** Offsets in the setup header of a bzImage (Documentation/arch/x86/boot.rst of the kernel). */
const SETUP_SECTORS = 0x1f1;
const SIGNATURE = 0x202;
const PROTOCOL_VERSION = 0x206;
const PAYLOAD_OFFSET = 0x248;
const PAYLOAD_LENGTH = 0x24c;
/** The protocol that has a payload offset is 2.08. */
const PAYLOAD_PROTOCOL = 0x0208;
const SECTOR_BYTES = 512;
/** What 0 sectors means, for old boot loaders' sake. */
const DEFAULT_SETUP_SECTORS = 4;
/** The kernel's build puts the unpacked size behind every payload but gzip's, whose format ends with it already. */
const SIZE_BYTES = 4;

/** XEN_ELFNOTE_PHYS32_ENTRY, the entry point by which a hypervisor starts an uncompressed kernel (PVH). */
const PVH_NOTE = { owner: 'Xen', type: 18 };

/**
 * Unpacks the ELF kernel of a bzImage. A guest that boots it saves the time an emulated processor needs for unpacking.
 *
 * @param {Buffer} bzImage
 * @param {string} what the file, for messages
 * @returns {Promise<Buffer>} an ELF file with a PVH entry point
 * @throws {BootToolError} when it is no bzImage, is damaged, or has no PVH entry point
 */
export async function unpackVmlinux(bzImage, what) {
  const payload = payloadOf(bzImage, what);
  const sized = compressionOf(payload) !== 'gzip';
  const vmlinux = await unpack(sized ? payload.subarray(0, -SIZE_BYTES) : payload, what);
  const expectedBytes = payload.readUInt32LE(payload.length - SIZE_BYTES);
  if (vmlinux.length !== expectedBytes || !isElf(vmlinux)) {
    throw new BootToolError(
      `${what} unpacks to ${vmlinux.length} bytes that are not the announced ELF kernel of ${expectedBytes} bytes`,
      'Remove the cached package, which is probably damaged, and run this again.',
    );
  }
  if (!readNotes(vmlinux).some(({ owner, type }) => owner === PVH_NOTE.owner && type === PVH_NOTE.type)) {
    throw new BootToolError(
      `${what} has no PVH entry point, so QEMU cannot boot it uncompressed`,
      'Use a kernel that is built with CONFIG_PVH.',
    );
  }
  return vmlinux;
}

function payloadOf(bzImage, what) {
  const isImage =
    bzImage.length > PAYLOAD_LENGTH + 4 && bzImage.toString('latin1', SIGNATURE, SIGNATURE + 4) === 'HdrS';
  if (!isImage || bzImage.readUInt16LE(PROTOCOL_VERSION) < PAYLOAD_PROTOCOL) {
    throw new BootToolError(`${what} is no bzImage with a payload`, 'Use an x86 kernel of Linux 2.6.26 or later.');
  }
  const setupSectors = bzImage[SETUP_SECTORS] || DEFAULT_SETUP_SECTORS;
  const start = (setupSectors + 1) * SECTOR_BYTES + bzImage.readUInt32LE(PAYLOAD_OFFSET);
  const end = start + bzImage.readUInt32LE(PAYLOAD_LENGTH);
  if (end > bzImage.length || end - start <= SIZE_BYTES) {
    throw new BootToolError(`${what} is cut off`, 'Remove the cached package and run this again.');
  }
  return bzImage.subarray(start, end);
}
