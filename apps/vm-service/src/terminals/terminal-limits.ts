/** Bounds of the terminals of a node. */
export interface TerminalLimits {
  /** Terminals that run at once on one machine. */
  readonly perMachine: number;
  readonly viewersPerTerminal: number;
  /** Output that is kept of each terminal for those who come late. */
  readonly replayBytes: number;
  /** A terminal without a viewer and without output for this long is closed. */
  readonly idleMs: number;
  /** How long an ended terminal can still be looked at. */
  readonly keepEndedMs: number;
  /** How often the two before are looked at. */
  readonly sweepMs: number;
  /** How long a command waits for its fastest viewer before it goes on without. */
  readonly patienceMs: number;
  /** Between two questions to a viewer whether it is there; one that has not answered by the next is dropped. */
  readonly pingMs: number;
}

export const TERMINAL_LIMITS = Symbol('TERMINAL_LIMITS');

export const DEFAULT_TERMINAL_LIMITS: TerminalLimits = {
  perMachine: 8,
  viewersPerTerminal: 16,
  replayBytes: 256 * 1024,
  idleMs: 8 * 3_600_000,
  keepEndedMs: 600_000,
  sweepMs: 30_000,
  patienceMs: 2_000,
  pingMs: 20_000,
};
