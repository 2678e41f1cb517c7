const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** How long ago something was, in its largest whole unit: `12 s`, `3 min`, `5 h`, `2 d`. */
export function age(atMs: number, nowMs: number): string {
  const elapsed = Math.max(0, nowMs - atMs);
  if (elapsed < MINUTE_MS) return `${Math.floor(elapsed / SECOND_MS)} s`;
  if (elapsed < HOUR_MS) return `${Math.floor(elapsed / MINUTE_MS)} min`;
  if (elapsed < DAY_MS) return `${Math.floor(elapsed / HOUR_MS)} h`;
  return `${Math.floor(elapsed / DAY_MS)} d`;
}

/** A length of time: `340 ms`, `4.2 s`, `3 min 20 s`. */
export function duration(ms: number): string {
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(1)} s`;
  const minutes = Math.floor(ms / MINUTE_MS);
  return `${minutes} min ${Math.floor((ms % MINUTE_MS) / SECOND_MS)} s`;
}

/** A place on a time line, from its start: `+4.250 s`, `+2:05.3`. */
export function elapsed(ms: number): string {
  const sign = ms < 0 ? '−' : '+';
  const seconds = Math.abs(ms) / SECOND_MS;
  if (seconds < 60) return `${sign}${seconds.toFixed(3)} s`;
  const rest = (seconds % 60).toFixed(1).padStart(4, '0');
  return `${sign}${Math.floor(seconds / 60)}:${rest}`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A size in binary units: `512 B`, `64.0 MiB`. */
export function size(bytes: number): string {
  const unit = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** unit;
  return unit === 0 ? `${bytes} B` : `${value.toFixed(1)} ${UNITS[unit]}`;
}

/** `1 machine`, `3 machines`. */
export const count = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

/** A name with underscores as words: `clean_poweroff` as `clean poweroff`. */
export const words = (name: string): string => name.replaceAll('_', ' ');

/** A point in time for people, with its zone. */
export const moment = (atMs: number): string =>
  new Date(atMs).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' });
