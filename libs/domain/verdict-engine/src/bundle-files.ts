/**
 * Names of the files of an evidence bundle, inside its directory. The driver writes the first three, vm-service the
 * others; `verdict.json` is what `encodeVerdict` made of the rest.
 */
export const BUNDLE_FILES = {
  /** QMP events, one JSON object per line, in order of arrival. */
  events: 'events.jsonl',
  /** The serial console from its first byte on. */
  serialHead: 'serial.log',
  /** The last bytes of the serial console; only when the head could not hold all of it. */
  serialTail: 'serial.tail.log',
  /** What the host was asked to do to the machine, each line written before acting. */
  actions: 'actions.jsonl',
  /** What the host saw by looking: pings, serial growth, query-status, its own disk and memory. */
  probes: 'probes.jsonl',
  /** `EvidenceMeta`. */
  meta: 'meta.json',
  /** The verdict drawn from all of the above. */
  verdict: 'verdict.json',
} as const;

/** One of the files a verdict may cite. */
export type EvidenceFile = Exclude<(typeof BUNDLE_FILES)[keyof typeof BUNDLE_FILES], 'verdict.json'>;
