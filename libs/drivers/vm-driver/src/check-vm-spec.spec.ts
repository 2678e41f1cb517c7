import { checkInstanceDirectory, checkVmSpec } from './check-vm-spec';
import { sampleVmSpec } from './testing/vm-spec-sample';
import type { VmSpec } from './vm-specification';

const ROOT = '/var/lib/inquest';
const INSTANCES = `${ROOT}/machines`;
const sample = sampleVmSpec(ROOT);
const check = (overrides: Partial<VmSpec>) => (): void => checkVmSpec({ ...sample, ...overrides }, INSTANCES);

describe('checkVmSpec', () => {
  it('accepts a proper specification', () => {
    expect(check({ rtcBaseMs: 1_700_000_000_000 })).not.toThrow();
  });

  it.each<[string, Partial<VmSpec>]>([
    ['machineId', { machineId: '../x' as VmSpec['machineId'] }],
    ['incarnation', { incarnation: 0 }],
    ['cpus', { cpus: 65 }],
    ['cpus', { cpus: 1.5 }],
    ['memoryMib', { memoryMib: 63 }],
    ['rtcBaseMs', { rtcBaseMs: -1 }],
    ['rtcBaseMs', { rtcBaseMs: NaN }],
    ['hostname', { hostname: '-x' }],
    ['hostname', { hostname: 'x'.repeat(64) }],
    ['hostname', { hostname: 'a b' }],
    ['startTimeoutMs', { limits: { ...sample.limits, startTimeoutMs: 0 } }],
    ['overlayBytes', { limits: { ...sample.limits, overlayBytes: 1 } }],
    ['boot.commandLine', { boot: { ...sample.boot, commandLine: ['init=/bin/sh rw'] } }],
    ['boot.commandLine', { boot: { ...sample.boot, commandLine: ['a\nb'] } }],
    ['boot.commandLine', { boot: { ...sample.boot, commandLine: Array.from({ length: 65 }, () => 'x') } }],
    ['boot.kernelPath', { boot: { ...sample.boot, kernelPath: 'vmlinux' } }],
    ['disk.basePath', { disk: { ...sample.disk, basePath: '/a\0b' } }],
    ['disk.baseFormat', { disk: { ...sample.disk, baseFormat: 'vmdk' as 'raw' } }],
    ['evidenceDirectory', { evidenceDirectory: 'evidence' }],
    ['directory', { directory: `${INSTANCES}/a/b` }],
    ['directory', { directory: `${INSTANCES}/..` }],
    ['directory', { directory: `${INSTANCES}/.host-check.json` }],
    ['directory', { directory: INSTANCES }],
    ['shares', { shares: [{ tag: 'a,b', path: '/srv' }] }],
    ['shares', { shares: [{ tag: 'a', path: 'srv' }] }],
    ['shares', { shares: ['a', 'a'].map((tag) => ({ tag, path: '/srv' })) }],
    ['shares', { shares: Array.from({ length: 9 }, (_, at) => ({ tag: `a${at}`, path: '/srv' })) }],
    ['network', { network: { directory: '/net', index: 0, neighbours: [1] } }],
    ['network', { network: { directory: '/net', index: 1, neighbours: [1] } }],
    ['network', { network: { directory: '/net', index: 1, neighbours: [255] } }],
    ['network', { network: { directory: '/net', index: 1, neighbours: [] } }],
    ['network.directory', { network: { directory: 'net', index: 1, neighbours: [2] } }],
    ['network.directory', { network: { directory: `/${'n'.repeat(100)}`, index: 1, neighbours: [2] } }],
    ['listeners', { listeners: [{ port: 0, handler: () => undefined }] }],
    ['listeners', { listeners: [1, 1].map((port) => ({ port, handler: () => undefined })) }],
  ])('refuses a wrong %s: %j', (name, overrides) => {
    expect(check(overrides)).toThrow(
      expect.objectContaining({ code: 'VM_SPEC_INVALID', message: expect.stringContaining(name) }),
    );
  });

  it('names all wrong values at once', () => {
    expect(check({ cpus: 0, memoryMib: 0, hostname: '' })).toThrow(/cpus.*memoryMib.*hostname/);
  });

  it('refuses a directory whose sockets would have too long a path, and says by how much', () => {
    const root = `/${'x'.repeat(100)}`;
    const spec = sampleVmSpec(root, { directory: `${root}/m` });
    expect(() => checkVmSpec(spec, root)).toThrow(/\d+ bytes too long/);
  });
});

describe('checkInstanceDirectory', () => {
  it.each(['/', INSTANCES, `${INSTANCES}/a/b`, `${INSTANCES}/../machines/a/..`, 'a', '', `${INSTANCES}-other/a`])(
    'refuses %j',
    (directory) => {
      expect(() => checkInstanceDirectory(directory, INSTANCES)).toThrow(
        expect.objectContaining({ code: 'VM_SPEC_INVALID' }),
      );
    },
  );
});
