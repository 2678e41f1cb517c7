/** Wall and monotonic time, injectable so that domain code and tests need no real clock. */
export interface Clock {
  /** Milliseconds since the Unix epoch. May jump. */
  nowMs(): number;
  /** Milliseconds from an arbitrary start. Never jumps; for durations and deadlines. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
