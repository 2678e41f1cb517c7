import { PROBE_EXIT_CODE, probeFirmware } from './probe-firmware';
import { compileQemuOptions } from './qemu-options';

describe('probeFirmware', () => {
  it('begins at the reset vector with a jump to its first byte', () => {
    const firmware = probeFirmware(7);
    expect(firmware).toHaveLength(65_536);
    expect(firmware.readUInt8(0xfff0)).toBe(0xe9);
    expect((0xfff3 + firmware.readUInt16LE(0xfff1)) % 65_536).toBe(0);
    expect(firmware.readUInt32LE(2)).toBe(7);
    // isa-debug-exit makes exit codes odd, so that the probe's can be none of QEMU's own.
    expect(PROBE_EXIT_CODE % 2).toBe(1);
    expect(PROBE_EXIT_CODE).toBeGreaterThan(1);
  });
});

describe('compileQemuOptions', () => {
  const instancesRoot = '/m';

  it('runs machines as nobody when it is root and as itself when it is not', () => {
    expect(compileQemuOptions({ instancesRoot }, 0).qemuUser).toEqual({ uid: 65534, gid: 65534 });
    expect(compileQemuOptions({ instancesRoot }, 1000).qemuUser).toBeNull();
    expect(compileQemuOptions({ instancesRoot, qemuUser: null }, 0).qemuUser).toBeNull();
  });

  it('refuses a user that this process cannot become', () => {
    const compile = () => compileQemuOptions({ instancesRoot, qemuUser: { uid: 7, gid: 7 } }, 1000);
    expect(compile).toThrow(expect.objectContaining({ code: 'VM_HOST_UNSUPPORTED' }));
  });
});
