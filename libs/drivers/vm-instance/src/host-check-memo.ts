import { abortable } from '@inquest/kernel';
import type { HostCheck } from '@inquest/vm-driver';
import { programIdentity, type ProgramIdentity } from './program-identity';

/** What a driver found out about its host: one probe serves all callers, until the monitor is another program. */
export class HostCheckMemo {
  private monitor: ProgramIdentity | null = null;
  private found: Promise<HostCheck> | null = null;

  /** `program` is the monitor; `probe` finds out, and has a deadline of its own. */
  constructor(
    private readonly program: string,
    private readonly probe: () => Promise<HostCheck>,
  ) {}

  /** Goes on for the others when one caller gives up. What failed is tried again by the next. Rejects as the probe does. */
  async get(signal: AbortSignal): Promise<HostCheck> {
    const monitor = await programIdentity(this.program, this.monitor);
    const isOther = monitor.key !== this.monitor?.key;
    this.monitor = monitor;
    const found = isOther || this.found === null ? this.begin() : this.found;
    return abortable(found, signal, 'the host check');
  }

  private begin(): Promise<HostCheck> {
    const found = this.probe();
    this.found = found;
    found.catch(() => {
      if (this.found === found) this.found = null;
    });
    return found;
  }
}
