import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { deadlineSignal } from '@inquest/kernel';
import { VM_DRIVER, type HostCheck, type VmDriver } from '@inquest/vm-driver';

/** The probe boots tiny guests one after another; each is given up on after a few seconds. */
const HOST_CHECK_TIMEOUT_MS = 60_000;

/** What runs the guests' instructions on this host: found out once, beginning when the service starts. */
@Injectable()
export class HostAccelerator implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger(HostAccelerator.name);
  private readonly stopping = new AbortController();
  private check: Promise<HostCheck> | null = null;
  private found: HostCheck | null = null;

  constructor(@Inject(VM_DRIVER) private readonly driver: VmDriver) {}

  /** Does not wait: a hung accelerator delays machines, not the service. */
  onApplicationBootstrap(): void {
    this.find().catch((e: unknown) => this.log.error('what this host can run is not known yet', e));
  }

  beforeApplicationShutdown(): void {
    this.stopping.abort(new Error('vm-service is stopping'));
  }

  /** What the probe found; null before its end, and after a failure. */
  get known(): HostCheck | null {
    return this.found;
  }

  /** The result of the one probe. A failure (`VM_HOST_UNSUPPORTED`, `OPERATION_ABORTED`) is tried again by the next caller. */
  find(): Promise<HostCheck> {
    this.check ??= this.probe();
    return this.check;
  }

  private async probe(): Promise<HostCheck> {
    try {
      this.found = await this.driver.checkHost(deadlineSignal(HOST_CHECK_TIMEOUT_MS, this.stopping.signal));
      return this.found;
    } catch (e) {
      this.check = null;
      throw e;
    }
  }
}
