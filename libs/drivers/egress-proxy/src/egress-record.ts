/** Which way out a connection took. */
export const EGRESS_WAYS = ['proxy', 'local_model'] as const;
export type EgressWay = (typeof EGRESS_WAYS)[number];

/** `refused`: a rule said no. `failed`: it was allowed, and did not come about. */
export const EGRESS_VERDICTS = ['allowed', 'refused', 'failed'] as const;
export type EgressVerdict = (typeof EGRESS_VERDICTS)[number];

/**
 * What was decided about one connection of a guest. One that is allowed is recorded when bytes begin to
 * pass, and again with their number when it has ended; every other one once.
 */
export interface EgressRecord {
  /** In ms since the Unix epoch. */
  readonly atMs: number;
  readonly way: EgressWay;
  /** Number of the connection on its way, counted from 1; connections on which nothing was asked have one and no record. */
  readonly connection: number;
  readonly verdict: EgressVerdict;
  /** The error code of the rule or failure; null when it was allowed. */
  readonly code: string | null;
  /** The same for people, or how an allowed connection ended. */
  readonly message: string;
  /** What was asked for; null when it did not come to that. Names from a guest are in lower case and checked. */
  readonly host: string | null;
  readonly port: number | null;
  /** The address that was connected to; null when none was. */
  readonly address: string | null;
  /** Nothing more of this connection is recorded. */
  readonly isClosed: boolean;
  /** Bytes that the guest sent to the other side, its requests to the proxy not counted. */
  readonly bytesUp: number;
  /** Bytes that the guest got from the other side. */
  readonly bytesDown: number;
  readonly durationMs: number;
}

/** Keeps a record. Never rejects; the connection waits for it, so its time is bounded. */
export type EgressRecorder = (record: EgressRecord) => Promise<void>;
