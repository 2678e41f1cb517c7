import type { VmExit } from '../vm-handle';

/** What a machine leaves behind when its guest ends this way, in the order in which QEMU shows it. */
export interface FakeEnding {
  /** Console output, then events; both as recorded from real guests. */
  readonly console: string;
  readonly events: readonly { readonly name: string; readonly data?: Readonly<Record<string, unknown>> }[];
  readonly exit: Pick<VmExit, 'code' | 'signal'>;
}

const AGENT_GONE = { name: 'VSERPORT_CHANGE', data: { open: false, id: 'inquest.mux' } } as const;
const shutdown = (reason: string, guest = true) => ({ name: 'SHUTDOWN', data: { guest, reason } });

/** Endings of a QEMU machine with `-no-reboot -action panic=none`. */
export const FAKE_ENDINGS = {
  /** `poweroff` through init. */
  poweroff: {
    console: 'The system is going down NOW!\r\nRequesting system poweroff\r\n[    9.100000] reboot: Power down\r\n',
    events: [AGENT_GONE, shutdown('guest-shutdown')],
    exit: { code: 0, signal: null },
  },
  /** `poweroff -f`: nothing shows that init stopped the system. */
  forcedPoweroff: {
    console: '[    9.100000] reboot: Power down\r\n',
    events: [shutdown('guest-shutdown')],
    exit: { code: 0, signal: null },
  },
  /** `reboot -f`. */
  reset: {
    console: '[    9.100000] reboot: Restarting system\r\n',
    events: [shutdown('guest-reset')],
    exit: { code: 0, signal: null },
  },
  /** `echo c > /proc/sysrq-trigger` with pvpanic and panic=1. */
  panic: {
    console:
      '[    9.100000] sysrq: Trigger a crash\r\n[    9.100100] Kernel panic - not syncing: sysrq triggered crash\r\n' +
      '[    9.100200] Rebooting in 1 seconds..\r\n',
    events: [{ name: 'GUEST_PANICKED', data: { action: 'run' } }, shutdown('guest-reset')],
    exit: { code: 0, signal: null },
  },
  /** The host told the monitor to quit. */
  quit: { console: '', events: [shutdown('host-qmp-quit', false)], exit: { code: 0, signal: null } },
  /** SIGKILL from outside: a death without a word. */
  killed: { console: '', events: [], exit: { code: null, signal: 'SIGKILL' } },
} as const satisfies Record<string, FakeEnding>;

export type FakeEndingName = keyof typeof FAKE_ENDINGS;
