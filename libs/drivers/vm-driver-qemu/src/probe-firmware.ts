/** Port of `isa-debug-exit` in the probe; QEMU then exits with `(value << 1) | 1`. */
export const PROBE_EXIT_PORT = 0xf4;
const PROBE_EXIT_VALUE = 0x10;
/** Exit code of QEMU when the probe ran to its end. */
export const PROBE_EXIT_CODE = (PROBE_EXIT_VALUE << 1) | 1;

/** The smallest firmware that QEMU accepts; it ends at the top of the first 4 GiB. */
const FIRMWARE_BYTES = 64 * 1024;
/** x86 begins 16 bytes below the top of the firmware. */
const RESET_VECTOR = FIRMWARE_BYTES - 16;
/** A guest of a few instructions (16-bit real mode): count down from `iterations`, then leave through the debug port. */
export function probeFirmware(iterations: number): Buffer {
  const firmware = Buffer.alloc(FIRMWARE_BYTES);
  const count = Buffer.alloc(4);
  count.writeUInt32LE(iterations);
  const program = Buffer.concat([
    Buffer.from([0x66, 0xb9]), // mov ecx, iterations
    count,
    Buffer.from([0x66, 0x49, 0x75, 0xfc]), // again: dec ecx; jnz again
    Buffer.from([0xb0, PROBE_EXIT_VALUE, 0xe6, PROBE_EXIT_PORT]), // mov al, value; out port, al
    Buffer.from([0xf4, 0xeb, 0xfd]), // stop: hlt; jmp stop
  ]);
  program.copy(firmware, 0);
  const jump = Buffer.from([0xe9, 0, 0]); // jmp 0: relative to the instruction after it, modulo 64 KiB
  jump.writeUInt16LE(FIRMWARE_BYTES - (RESET_VECTOR + jump.length), 1);
  jump.copy(firmware, RESET_VECTOR);
  return firmware;
}
