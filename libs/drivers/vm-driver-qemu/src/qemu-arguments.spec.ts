import { instanceFile } from '@inquest/vm-driver';
import { sampleVmSpec } from '@inquest/vm-driver/testing';
import { qemuArguments } from './qemu-arguments';

const ROOT = '/var/lib/inquest';
const TCG = { accelerator: 'tcg', translationCacheMib: 64, memory: null, isRestored: false } as const;

/** The value after each occurrence of an option. */
const valuesOf = (args: readonly string[], option: string): string[] =>
  args.flatMap((argument, at) => (argument === option ? [args[at + 1] ?? ''] : []));

describe('qemuArguments', () => {
  const spec = sampleVmSpec(ROOT, { incarnation: 4, cpus: 2, memoryMib: 512 });
  const args = qemuArguments(spec, TCG);

  it('gives the guest no network card and nothing that was not asked for', () => {
    expect(args).toEqual(expect.arrayContaining(['-nodefaults', '-no-user-config']));
    expect(args.join(' ')).not.toMatch(/netdev|virtio-net|-nic|hostfwd|usb|isa-debug-exit|-vnc|-spice/);
    expect(valuesOf(args, '-device').map((device) => device.split(',')[0])).toEqual([
      'vmgenid',
      'virtio-rng-pci',
      'virtio-serial-pci',
      'virtserialport',
      'virtio-blk-pci',
      'pvpanic-pci',
      'i6300esb',
    ]);
  });

  it('gives a machine a screen only when it asks, behind all that a machine without one has', () => {
    const withScreen = qemuArguments({ ...spec, hasScreen: true }, TCG);
    expect(valuesOf(withScreen, '-device')).toEqual([
      ...valuesOf(args, '-device'),
      ...['VGA,vgamem_mb=8', 'virtio-tablet-pci', 'virtio-keyboard-pci'],
    ]);
    expect(valuesOf(withScreen, '-append')[0]).toMatch(/^console=tty0 console=ttyS0 /);
    expect(valuesOf(withScreen, '-display')).toEqual(['none']);
  });

  it('shares a directory read-only, whatever its name, and only what was named', () => {
    const shared = qemuArguments({ ...spec, shares: [{ tag: 'docs', path: '/srv/a,readonly=off' }] }, TCG);
    expect(valuesOf(shared, '-fsdev')).toEqual([
      'local,id=docs,path=/srv/a,,readonly=off,security_model=none,readonly=on',
    ]);
    expect(valuesOf(shared, '-device').at(-1)).toBe('virtio-9p-pci,fsdev=docs,mount_tag=docs');
    expect(args.join(' ')).not.toMatch(/fsdev|9p/);
  });

  it('wires a machine to its neighbours by sockets of its network, and to nothing of the host', () => {
    const network = { directory: '/run/net', index: 1, neighbours: [2, 3] };
    const wired = qemuArguments({ ...spec, network }, TCG);
    expect(valuesOf(wired, '-netdev')).toEqual([
      'hubport,id=card,hubid=0',
      'dgram,id=cable2,local.type=unix,local.path=/run/net/1-2.sock,remote.type=unix,remote.path=/run/net/2-1.sock',
      'hubport,id=port2,hubid=0,netdev=cable2',
      'dgram,id=cable3,local.type=unix,local.path=/run/net/1-3.sock,remote.type=unix,remote.path=/run/net/3-1.sock',
      'hubport,id=port3,hubid=0,netdev=cable3',
    ]);
    expect(valuesOf(wired, '-device').at(-1)).toBe('virtio-net-pci,netdev=card,mac=52:54:00:be:ef:01,romfile=');
    expect(wired.join(' ')).not.toMatch(/-nic|user,|tap|bridge|hostfwd|inet/);
  });

  it('confines the monitor and bounds its translation cache', () => {
    expect(valuesOf(args, '-sandbox')).toEqual([
      'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny',
    ]);
    expect(valuesOf(args, '-accel')).toEqual(['tcg,thread=multi,tb-size=64']);
  });

  it('passes the real processor through under KVM', () => {
    const kvm = qemuArguments(spec, { ...TCG, accelerator: 'kvm' });
    expect(valuesOf(kvm, '-accel')).toEqual(['kvm']);
    expect(valuesOf(kvm, '-cpu')).toEqual(['host']);
  });

  it('keeps the guest from running until somebody listens, and its end from being lost', () => {
    expect(args).toContain('-S');
    expect(args).toContain('-no-reboot');
    expect(valuesOf(args, '-action')).toEqual(['panic=none,watchdog=pause']);
    expect(valuesOf(args, '-mon')).toEqual([
      'chardev=recorder,mode=control',
      'chardev=control,mode=control',
      'chardev=ready,mode=control',
    ]);
  });

  it('names the overlay after the incarnation and pauses on errors of the host disk', () => {
    expect(JSON.parse(valuesOf(args, '-blockdev')[0] ?? '')).toMatchObject({
      file: { filename: `${spec.directory}/vmm/overlay.4.qcow2` },
    });
    expect(valuesOf(args, '-device')).toContain('virtio-blk-pci,drive=overlay,werror=stop,rerror=stop');
  });

  it('gives the serial port of the link an id, so that its opening is announced', () => {
    expect(valuesOf(args, '-device')).toContain('virtserialport,id=inquest.mux,chardev=mux,name=inquest.mux');
  });

  it('has the console on the first serial port and a shell on the second', () => {
    expect(valuesOf(args, '-serial')).toEqual(['chardev:console', 'chardev:shell']);
    const shell = valuesOf(args, '-chardev').find((chardev) => chardev.includes('id=shell,'));
    expect(shell).toContain(`path=${instanceFile(spec.directory, 'shellSocket')},server=on,wait=off`);
  });

  it('puts the image kernel arguments after its own', () => {
    expect(valuesOf(args, '-append')).toEqual([
      'console=ttyS0 loglevel=6 inquest.loglevel=7 panic=1 inquest.root=/dev/vda inquest.hostname=sample rw',
    ]);
  });

  it('boots on memory of its own, and continues a template on a private view of its memory', () => {
    expect(valuesOf(args, '-object')).toEqual(['memory-backend-ram,id=ram,size=512M']);
    expect(valuesOf(args, '-machine')).toEqual(['q35,memory-backend=ram']);
    expect(args).not.toContain('-incoming');
    const clone = qemuArguments(spec, { ...TCG, memory: { path: '/t/a,b', isShared: false }, isRestored: true });
    expect(valuesOf(clone, '-object')).toEqual(['memory-backend-file,mem-path=/t/a,,b,share=off,id=ram,size=512M']);
    expect(valuesOf(clone, '-machine')).toEqual(['q35,memory-backend=ram']);
    expect(valuesOf(clone, '-incoming')).toEqual(['defer']);
    expect(valuesOf(clone, '-device')).toEqual(valuesOf(args, '-device'));
  });

  it.each([
    [null, 'base=utc'],
    [Date.UTC(2001, 1, 3, 4, 5, 6, 789), 'base=2001-02-03T04:05:06'],
  ])('sets the clock of the guest for %j', (rtcBaseMs, expected) => {
    expect(valuesOf(qemuArguments({ ...spec, rtcBaseMs }, TCG), '-rtc')).toEqual([expected]);
  });

  it('lets no comma of a path become an option', () => {
    const hostile = sampleVmSpec('/a,server=off', {});
    const sockets = valuesOf(qemuArguments(hostile, TCG), '-chardev').filter((value) => value.includes('path='));
    expect(sockets).toHaveLength(5);
    for (const socket of sockets) expect(socket).toContain('path=/a,,server=off/');
  });
});
