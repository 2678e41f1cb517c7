/** A `Date` header has whole seconds, and an answer takes its time: less than this is no difference. */
const TOLERANCE_MS = 3_000;

let differenceMs = 0;

/** Learns from the `Date` header of an answer how far the server's clock is from this one. */
export function noteServerTime(date: string | null, hereMs: number = Date.now()): void {
  const thereMs = date === null ? NaN : Date.parse(date);
  if (Number.isNaN(thereMs)) return;
  differenceMs = Math.abs(thereMs - hereMs) > TOLERANCE_MS ? thereMs - hereMs : 0;
}

/** Now by the clock that stamped what the page shows, so that an age is right although this computer's clock is wrong. */
export const serverNowMs = (hereMs: number = Date.now()): number => hereMs + differenceMs;
