import { probeKernel } from './probe-kernel';

describe('probeKernel', () => {
  it('is an ELF program for x86-64 whose two entry points are its first instruction', () => {
    const kernel = probeKernel(7);
    expect(kernel.toString('latin1', 0, 5)).toBe('\x7fELF\x02');
    expect(kernel.readUInt16LE(18)).toBe(62);
    const entry = kernel.readBigUInt64LE(24);
    // The program header of the segment: where it is in the file, and where it is loaded.
    const offset = Number(kernel.readBigUInt64LE(64 + 8));
    expect(kernel.readBigUInt64LE(64 + 24)).toBe(entry);
    expect(entry).toBeGreaterThanOrEqual(0x10_0000n);
    const note = Number(kernel.readBigUInt64LE(64 + 56 + 8));
    expect(kernel.readBigUInt64LE(note + 16)).toBe(entry);
    expect([kernel.readUInt8(offset), kernel.readUInt32LE(offset + 1)]).toEqual([0xb9, 7]);
  });
});
