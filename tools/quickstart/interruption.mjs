/** Exit statuses of a shell for what these signals ended. */
const STATUSES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/**
 * What asks this process to stop: Ctrl-C, the end of the terminal, or SIGTERM. Only the first one counts: npm passes on
 * each that the terminal has sent already.
 */
export class Interruption {
  /** @type {number | null} exit status for the signal that came; null while none came */
  status = null;
  /** @type {((signal: NodeJS.Signals) => void) | null} */
  onSignal = null;

  constructor() {
    for (const signal of Object.keys(STATUSES)) {
      process.on(signal, () => {
        if (this.status !== null) return;
        this.status = STATUSES[signal];
        this.onSignal?.(signal);
      });
    }
  }
}
