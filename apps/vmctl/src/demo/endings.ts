import type { EvidenceDriver, VerdictClass } from '@inquest/verdict-engine';

/** How an ending is brought about. */
export type EndingCause =
  /** A shell command in the guest. */
  | { readonly by: 'guest'; readonly shell: string }
  /** A signal to QEMU from a process that is not the platform's. */
  | { readonly by: 'stranger'; readonly signal: 'SIGKILL' | 'SIGTERM' | 'SIGSEGV' | 'SIGSTOP' }
  /** The platform is asked to remove the machine. */
  | { readonly by: 'platform' }
  /** QEMU may write no more, as on a full disk, and the guest writes. */
  | { readonly by: 'full-disk'; readonly shell: string };

/** One way for a machine to end, or to stand still, and the verdict that it must get. */
export interface Ending {
  readonly name: string;
  readonly expected: VerdictClass;
  readonly cause: EndingCause;
  /** Drivers whose machines cannot come to it, and why. */
  readonly notOn?: Partial<Readonly<Record<EvidenceDriver, string>>>;
}

const guest = (expected: VerdictClass, name: string, shell: string, notOnFirecracker?: string): Ending => ({
  name,
  expected,
  cause: { by: 'guest', shell },
  ...(notOnFirecracker === undefined ? {} : { notOn: { firecracker: notOnFirecracker } }),
});

/** Without the device the host hears nothing of a panic. */
const WITHOUT_PVPANIC = 'cd /sys/bus/pci/drivers/pvpanic-pci && for d in 0000*; do echo $d > unbind; done';
const PANIC = 'echo c > /proc/sysrq-trigger';
/** Init's program text is overwritten with zeros, which crash it when it wakes up. */
const KILL_INIT = [
  'set -- $(grep -m 1 r-xp /proc/1/maps | tr "-" " ")',
  'dd if=/dev/zero of=/proc/1/mem bs=4096 seek=$((0x$1 / 4096)) count=$(((0x$2 - 0x$1) / 4096)) conv=notrunc',
  'kill -CHLD 1',
].join('; ');

/** Every class of verdict that a machine of the platform can come to, by all the ways that look alike to a monitor. */
export const ENDINGS: readonly Ending[] = [
  guest('clean_poweroff', 'the guest powers off', 'poweroff'),
  guest(
    'clean_poweroff',
    'it floods its console and powers off',
    'yes "BUG: not a bug" > /dev/ttyS0 & sleep 1; poweroff',
  ),
  guest('forced_poweroff', 'it powers off without init', 'poweroff -f'),
  guest(
    'dirty_poweroff',
    'it powers off without a word of its kernel',
    'cd /sys/bus/pnp/drivers/serial && for d in 0*; do echo $d > unbind; done; poweroff -f',
    'Firecracker has no event of a power-off: a machine whose kernel said nothing looks like one that hangs',
  ),
  guest('halted', 'it halts', 'halt -f'),
  guest('guest_reset', 'it resets itself', 'reboot -f'),
  guest('panicked', 'its kernel panics', PANIC),
  guest('panicked', 'panic=0 and no pvpanic', `echo 0 > /proc/sys/kernel/panic; ${WITHOUT_PVPANIC}; ${PANIC}`),
  guest('panicked', 'panic=-1 and no pvpanic', `echo -1 > /proc/sys/kernel/panic; ${WITHOUT_PVPANIC}; ${PANIC}`),
  guest('panicked', 'its init is killed', KILL_INIT),
  guest(
    'watchdog_fired',
    'it stops feeding its watchdog',
    'watchdog -F -T 2 -t 1000 /dev/watchdog',
    'Firecracker has no watchdog',
  ),
  guest('hung', 'it stops answering', 'kill -STOP $PPID'),
  guest('agent_lost', 'its agent is killed while the kernel lives', 'kill -9 $PPID'),
  guest('suspended', 'it goes to sleep', 'echo mem > /sys/power/state', 'Firecracker has no power management'),
  guest('still_running', 'it lives', 'true'),
  { name: 'the platform removes it', expected: 'host_killed', cause: { by: 'platform' } },
  { name: 'a stranger kills QEMU', expected: 'host_killed', cause: { by: 'stranger', signal: 'SIGKILL' } },
  { name: 'a stranger ends QEMU', expected: 'host_killed', cause: { by: 'stranger', signal: 'SIGTERM' } },
  { name: 'QEMU crashes', expected: 'vmm_crashed', cause: { by: 'stranger', signal: 'SIGSEGV' } },
  {
    name: 'QEMU is frozen',
    expected: 'host_error',
    cause: { by: 'stranger', signal: 'SIGSTOP' },
    notOn: { firecracker: 'Firecracker has no monitor whose silence tells a frozen process from a guest that hangs' },
  },
  {
    name: "the host's disk takes no more",
    expected: 'io_error',
    cause: { by: 'full-disk', shell: 'dd if=/dev/urandom of=/root/fill bs=64k count=128; sync' },
    notOn: {
      firecracker:
        'Firecracker hands errors of the disk to its guest, and the whole disk of a machine exists at its start',
    },
  },
];

/** Classes that no machine of the platform comes to, and why. */
export const OUT_OF_REACH: readonly (readonly [expected: VerdictClass, why: string])[] = [
  ['reset_loop', 'the first reset of a machine ends it (-no-reboot); shown by the tests of the QEMU driver'],
  ['never_booted', 'a frozen image has booted before; shown by the tests of the QEMU driver'],
  ['unknown', 'it stands for evidence that no rule knows, which a real guest does not leave'],
];
