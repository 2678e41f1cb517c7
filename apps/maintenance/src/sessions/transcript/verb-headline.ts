import { printableLine, type Entry, type JsonValue } from '@inquest/transcript';

/** Arguments that say by themselves what a call does, most telling first. */
const TELLING = ['command', 'path', 'message', 'summary', 'plan'] as const;

/** A verb's call in one line. */
export function verbHeadline({ arguments: value }: Pick<Entry<'verb'>, 'arguments'>): string {
  if (!isObject(value)) return value === null ? '' : printableLine(JSON.stringify(value));
  const telling = TELLING.map((key) => value[key]).find((argument) => typeof argument === 'string');
  if (typeof telling === 'string') return printableLine(telling);
  const text = JSON.stringify(value);
  return text === '{}' ? '' : printableLine(text);
}

const isObject = (value: JsonValue): value is Readonly<Record<string, JsonValue>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
