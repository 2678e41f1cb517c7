/** Bounds that hold whatever a guest does. */
export interface EgressLimits {
  /** Connections of one machine at once on this way; one more is turned away. */
  readonly maxConnections: number;
  /** From the guest's first byte to the end of its request, in ms. */
  readonly requestMs: number;
  /** For a name to be resolved, in ms. */
  readonly resolveMs: number;
  /** For one address to accept, in ms. */
  readonly dialMs: number;
  /** From the open tunnel to the whole ClientHello, in ms. */
  readonly helloMs: number;
  /** Without a byte in either direction, in ms. */
  readonly idleMs: number;
  /** From the first byte to the last, in ms. */
  readonly totalMs: number;
}

/** Long enough for a large download over a slow line and for a model that thinks before it streams. */
export const DEFAULT_EGRESS_LIMITS: EgressLimits = {
  maxConnections: 64,
  requestMs: 10_000,
  resolveMs: 8_000,
  dialMs: 10_000,
  helloMs: 10_000,
  idleMs: 600_000,
  totalMs: 4 * 3_600_000,
};
