import { sampleVmSpec } from '@inquest/vm-driver/testing';
import type { VmSpec } from '@inquest/vm-driver';
import { checkFirecrackerSpec } from './check-firecracker-spec';

const ROOT = '/var/lib/inquest';
const sample = sampleVmSpec(ROOT);
const check = (overrides: Partial<VmSpec>) => (): void =>
  checkFirecrackerSpec({ ...sample, ...overrides }, `${ROOT}/machines`);

describe('checkFirecrackerSpec', () => {
  it('accepts what Firecracker can run', () => {
    expect(check({ cpus: 32 })).not.toThrow();
  });

  it.each<[string, Partial<VmSpec>]>([
    ['more processors than Firecracker has', { cpus: 33 }],
    ['what no driver accepts', { memoryMib: 0 }],
  ])('refuses %s', (_, overrides) => {
    expect(check(overrides)).toThrow(expect.objectContaining({ code: 'VM_SPEC_INVALID' }));
  });

  it.each<[string, Partial<VmSpec>]>([
    ['rtcBaseMs', { rtcBaseMs: 1_700_000_000_000 }],
    ['template', { isCapturable: true }],
    ['shares', { shares: [{ tag: 'docs', path: '/srv/docs' }] }],
    ['network', { network: { directory: '/run/lab', index: 1, neighbours: [2] } }],
    ['qcow2', { disk: { ...sample.disk, baseFormat: 'qcow2' } }],
  ])('says that Firecracker lacks the power that is asked for: %s', (name, overrides) => {
    expect(check(overrides)).toThrow(
      expect.objectContaining({ code: 'VM_CAPABILITY_MISSING', message: expect.stringContaining(name) }),
    );
  });
});
