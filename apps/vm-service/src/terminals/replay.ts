import type { OutputRing } from './output-ring';

const NEWLINE = 0x0a;

/**
 * What a terminal would answer to: device attributes, status and cursor reports (ECMA-48 `CSI c`, `CSI n`, `CSI > q`),
 * requests for modes (`CSI ? p`, DECRQM) and colours (`OSC 4, 10 to 19 ; ?`), and DECRQSS and XTGETTCAP (`DCS $ q`,
 * `DCS + q`). latin1, so that a character is a byte.
 */
const QUESTIONS =
  /\x1b\[[?>=]?[0-9;]{0,16}[cn]|\x1b\[>[0-9;]{0,16}q|\x1b\[\??[0-9;]{0,16}\$p|\x1b\](?:4;[0-9]{1,4}|1[0-9]);\?(?:\x07|\x1b\\)|\x1bP[$+]q[^\x1b\x07]{0,256}(?:\x07|\x1b\\)/g;

/** What a viewer is shown that comes late. */
export interface Replay {
  readonly bytes: Buffer;
  /** Where the output goes on behind it. */
  readonly offset: number;
}

/**
 * The kept output from `fromOffset` on, all of it where that is null or not kept any more. Cut output begins with a
 * whole line, and questions to the terminal are left out: they were answered when they were asked, and an answer now
 * would be typed into whatever runs.
 */
export function replayOf(ring: OutputRing, fromOffset: number | null): Replay {
  const { start, end } = ring;
  const isKept = fromOffset !== null && fromOffset >= start && fromOffset <= end;
  const kept = ring.read(isKept ? fromOffset : start, end);
  const whole = isKept || start === 0 ? kept : kept.subarray(kept.indexOf(NEWLINE) + 1);
  return { bytes: Buffer.from(whole.toString('latin1').replace(QUESTIONS, ''), 'latin1'), offset: end };
}
