import { createHash } from 'node:crypto';
import type { VerbName } from '@inquest/contracts-agent';

/** `sha256:<hex>` over a verb and its checked arguments, whatever the order of their properties. */
export function digestOfCall(verb: VerbName, args: object): string {
  return `sha256:${createHash('sha256')
    .update(JSON.stringify([verb, args], sortProperties))
    .digest('hex')}`;
}

const sortProperties = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/**
 * Arguments for the person who decides, one per line, texts first; what was left out is not shown. The lines of a text of several are
 * indented below its name, so that no text can pass for another argument.
 */
export const describeCall = (args: object): string =>
  Object.entries(args)
    .filter(([, value]) => value !== null && value !== undefined)
    .sort(([, a], [, b]) => Number(typeof b === 'string') - Number(typeof a === 'string'))
    .map(([name, value]) => `${name}:${shown(value)}`)
    .join('\n');

const LINE_END = /\r\n|[\n\r\u2028\u2029]/;

function shown(value: unknown): string {
  const lines = typeof value === 'string' ? value.split(LINE_END) : [JSON.stringify(value)];
  return lines.length === 1 ? ` ${lines[0]}` : lines.map((line) => `\n  ${line}`).join('');
}
