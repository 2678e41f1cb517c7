/**
 * Just enough of the ELF format (elf(5); 64-bit, little-endian) to read a kernel's notes and a module's description.
 */

const MAGIC = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);
const CLASS_64_LITTLE_ENDIAN = Buffer.from([2, 1]);
const PROGRAM_HEADER_BYTES = 56;
const SECTION_HEADER_BYTES = 64;
const SEGMENT_NOTE = 4;

/**
 * Tells whether bytes begin a 64-bit little-endian ELF file.
 *
 * @param {Buffer} file
 * @returns {boolean}
 */
export function isElf(file) {
  return file.length >= 64 && file.subarray(0, 4).equals(MAGIC) && file.subarray(4, 6).equals(CLASS_64_LITTLE_ENDIAN);
}

/**
 * Finds a section by its name.
 *
 * @param {Buffer} file an ELF file
 * @param {string} name
 * @returns {Buffer | undefined} its content
 * @throws {RangeError} when the file's own tables point outside of it
 */
export function readSection(file, name) {
  const tableOffset = Number(file.readBigUInt64LE(0x28));
  const count = file.readUInt16LE(0x3c);
  const sectionOf = (index) => {
    const header = tableOffset + index * SECTION_HEADER_BYTES;
    const offset = Number(file.readBigUInt64LE(header + 0x18));
    const content = file.subarray(offset, offset + Number(file.readBigUInt64LE(header + 0x20)));
    return { nameOffset: file.readUInt32LE(header), content };
  };
  const names = sectionOf(file.readUInt16LE(0x3e)).content;
  for (let index = 0; index < count; index += 1) {
    const section = sectionOf(index);
    const end = names.indexOf(0, section.nameOffset);
    if (names.toString('latin1', section.nameOffset, end) === name) return section.content;
  }
  return undefined;
}

/**
 * Lists the notes of a program.
 *
 * @param {Buffer} file an ELF file
 * @returns {{ owner: string, type: number }[]}
 * @throws {RangeError} when the file's own tables point outside of it
 */
export function readNotes(file) {
  const tableOffset = Number(file.readBigUInt64LE(0x20));
  const count = file.readUInt16LE(0x38);
  const notes = [];
  for (let index = 0; index < count; index += 1) {
    const header = tableOffset + index * PROGRAM_HEADER_BYTES;
    if (file.readUInt32LE(header) !== SEGMENT_NOTE) continue;
    const offset = Number(file.readBigUInt64LE(header + 8));
    notes.push(...parseNotes(file.subarray(offset, offset + Number(file.readBigUInt64LE(header + 32)))));
  }
  return notes;
}

function parseNotes(segment) {
  const aligned = (size) => Math.ceil(size / 4) * 4;
  const notes = [];
  let offset = 0;
  while (offset + 12 <= segment.length) {
    const ownerBytes = segment.readUInt32LE(offset);
    const valueBytes = segment.readUInt32LE(offset + 4);
    const owner = segment.toString('latin1', offset + 12, offset + 12 + ownerBytes).replace(/\0+$/, '');
    notes.push({ owner, type: segment.readUInt32LE(offset + 8) });
    offset += 12 + aligned(ownerBytes) + aligned(valueBytes);
  }
  return notes;
}
