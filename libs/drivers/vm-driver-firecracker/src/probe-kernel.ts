/** i8042: the command port of the keyboard controller, and the command that resets the processor. */
const I8042_COMMAND_PORT = 0x64;
const I8042_RESET = 0xfe;

/** Where the program is loaded: Firecracker wants a kernel above the first MiB. */
const LOAD_ADDRESS = 0x100_0000;
const HEADER_BYTES = 64;
const PROGRAM_HEADER_BYTES = 56;
/** The program begins behind the headers and the note. */
const PROGRAM_OFFSET = 0x100;
const NOTE_OFFSET = HEADER_BYTES + 2 * PROGRAM_HEADER_BYTES;

/** elf(5) */
const ET_EXEC = 2;
const EM_X86_64 = 62;
const PT_LOAD = 1;
const PT_NOTE = 4;
const READ_EXECUTE = 5;
const READ = 4;
/** XEN_ELFNOTE_PHYS32_ENTRY: the entry point of the PVH boot protocol (xen/interface/elfnote.h). */
const PVH_ENTRY_NOTE = 18;

/**
 * The smallest kernel that Firecracker boots: it counts down from `iterations` and resets the machine, which ends
 * Firecracker with status 0. Its bytes mean the same in 64-bit mode, where Firecracker enters a kernel, and in 32-bit mode,
 * where the PVH protocol does, which later versions of Firecracker prefer.
 */
export function probeKernel(iterations: number): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32LE(iterations);
  const program = Buffer.concat([
    Buffer.from([0xb9]), // mov ecx, iterations
    count,
    Buffer.from([0x83, 0xe9, 0x01, 0x75, 0xfb]), // again: sub ecx, 1; jnz again
    Buffer.from([0xb0, I8042_RESET, 0xe6, I8042_COMMAND_PORT]), // mov al, I8042_RESET; out I8042_COMMAND_PORT, al
    Buffer.from([0xf4, 0xeb, 0xfd]), // stop: hlt; jmp stop
  ]);
  const note = pvhEntryNote();
  const kernel = Buffer.alloc(PROGRAM_OFFSET + program.length);
  elfHeader().copy(kernel, 0);
  programHeader({ type: PT_LOAD, flags: READ_EXECUTE, offset: PROGRAM_OFFSET, sizeBytes: program.length }).copy(
    kernel,
    HEADER_BYTES,
  );
  programHeader({ type: PT_NOTE, flags: READ, offset: NOTE_OFFSET, sizeBytes: note.length }).copy(
    kernel,
    HEADER_BYTES + PROGRAM_HEADER_BYTES,
  );
  note.copy(kernel, NOTE_OFFSET);
  program.copy(kernel, PROGRAM_OFFSET);
  return kernel;
}

function elfHeader(): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  // Magic, 64 bits, little endian, version 1.
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]).copy(header);
  header.writeUInt16LE(ET_EXEC, 16);
  header.writeUInt16LE(EM_X86_64, 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(BigInt(LOAD_ADDRESS), 24); // e_entry
  header.writeBigUInt64LE(BigInt(HEADER_BYTES), 32); // e_phoff
  header.writeUInt16LE(HEADER_BYTES, 52);
  header.writeUInt16LE(PROGRAM_HEADER_BYTES, 54);
  header.writeUInt16LE(2, 56); // e_phnum
  return header;
}

interface Segment {
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly sizeBytes: number;
}

function programHeader({ type, flags, offset, sizeBytes }: Segment): Buffer {
  const header = Buffer.alloc(PROGRAM_HEADER_BYTES);
  const address = type === PT_LOAD ? LOAD_ADDRESS : 0;
  header.writeUInt32LE(type, 0);
  header.writeUInt32LE(flags, 4);
  header.writeBigUInt64LE(BigInt(offset), 8);
  header.writeBigUInt64LE(BigInt(address), 16); // p_vaddr
  header.writeBigUInt64LE(BigInt(address), 24); // p_paddr
  header.writeBigUInt64LE(BigInt(sizeBytes), 32); // p_filesz
  header.writeBigUInt64LE(BigInt(sizeBytes), 40); // p_memsz
  header.writeBigUInt64LE(4n, 48); // p_align
  return header;
}

function pvhEntryNote(): Buffer {
  const note = Buffer.alloc(24);
  note.writeUInt32LE(4, 0); // length of the name
  note.writeUInt32LE(8, 4); // length of the description
  note.writeUInt32LE(PVH_ENTRY_NOTE, 8);
  note.write('Xen\0', 12, 'latin1');
  note.writeBigUInt64LE(BigInt(LOAD_ADDRESS), 16);
  return note;
}
