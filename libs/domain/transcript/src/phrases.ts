import type { Census, JsonValue, VerbCount } from './entry';
import { printable, printableLine } from './printable';

/** `0:01.2` within the hour, `1:02:03` above. Times before the start show as `-0:01.2`: a clock was set back. */
export function elapsed(ms: number): string {
  const sign = ms < 0 ? '-' : '';
  const tenths = Math.floor(Math.abs(ms) / 100);
  const seconds = Math.floor(tenths / 10);
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, two(seconds % 60)];
  return hours > 0 ? `${sign}${hours}:${two(minutes)}:${rest}` : `${sign}${minutes}:${rest}.${tenths % 10}`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** `12 ms`, `1.2 s`, `3 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

const MAX_DATE_MS = 8.64e15; // ECMAScript's time range

/** `2026-01-05 10:00:00 UTC`. */
export function utc(ms: number): string {
  if (Math.abs(ms) > MAX_DATE_MS) return 'at an impossible time';
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** The few arguments that say by themselves what a call is about, so that their names need not be shown. */
const TELLING_ARGUMENTS: readonly string[] = ['command', 'path', 'question', 'message', 'summary', 'text', 'name'];
const SHORT_ARGUMENT_LENGTH = 60;

/** A verb's arguments on one line: the telling one first and bare, the others as `name=value`, bulky ones as their size. */
export function describeArguments(args: JsonValue): string {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return args === null ? '' : inline(args);
  const properties = args as Readonly<Record<string, JsonValue>>;
  const telling = TELLING_ARGUMENTS.find((name) => typeof properties[name] === 'string');
  const bare = telling === undefined ? [] : [printableLine(properties[telling] as string)];
  const named = Object.entries(properties)
    .filter(([name]) => name !== telling)
    .map(([name, value]) => `${printableLine(name)}=${inline(value)}`);
  return [...bare, ...named].join(' ');
}

function inline(value: JsonValue): string {
  if (typeof value !== 'string') return printableLine(JSON.stringify(value)).slice(0, SHORT_ARGUMENT_LENGTH);
  const bulky = value.length > SHORT_ARGUMENT_LENGTH || value.includes('\n');
  return bulky ? `<${value.length} characters>` : printable(JSON.stringify(value));
}

/** `3x run (1 refused), 2x write_file; never used: click, scroll`. */
export function describeCensus({ verbs, neverUsed }: Census): string {
  const used = verbs.length === 0 ? 'no verb was used' : verbs.map(describeCount).join(', ');
  const unused = neverUsed.length === 0 ? '' : `; never used: ${neverUsed.map(printableLine).join(', ')}`;
  return used + unused;
}

function describeCount({ verb, count, refused, failed, errors }: VerbCount): string {
  const endings = Object.entries({ refused, failed, errors }).filter(([, times]) => times > 0);
  const note = endings.length === 0 ? '' : ` (${endings.map(([ending, times]) => `${times} ${ending}`).join(', ')})`;
  return `${count}x ${printableLine(verb)}${note}`;
}
