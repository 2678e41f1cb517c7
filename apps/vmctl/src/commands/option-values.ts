import { InvalidArgumentError } from '@commander-js/extra-typings';
import { isVerbName, VERB_NAMES, type VerbName } from '@inquest/contracts-agent';
import { RTC_MAX_MS } from '@inquest/contracts-vm';

/** A whole number from 0; the option parser names the option when it throws. */
export function wholeNumber(value: string): number {
  const number = Number(value);
  if (value.trim() !== '' && Number.isSafeInteger(number) && number >= 0) return number;
  throw new InvalidArgumentError('It must be a whole number.');
}

/** A time with its zone, such as `2024-02-29T12:00:00Z`, in ms since the Unix epoch. */
export function instant(value: string): number {
  const atMs = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})$/.test(value) ? Date.parse(value) : NaN;
  // A day that there is not would be counted on into the next month.
  if (atMs >= 0 && atMs <= RTC_MAX_MS && isDayOfMonth(value)) return atMs;
  throw new InvalidArgumentError('It must be a time with its zone, from 1970 to 2100, such as 2024-02-29T12:00:00Z.');
}

function isDayOfMonth(value: string): boolean {
  const date = value.slice(0, 10);
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);
}

/** Seconds, fractions allowed, at most a day. */
export function seconds(value: string): number {
  const number = Number(value);
  if (value.trim() !== '' && number >= 0 && number <= MAX_SECONDS) return number;
  throw new InvalidArgumentError(`It must be a number of seconds, at most ${MAX_SECONDS}.`);
}

const MAX_SECONDS = 86_400;

/** Of an option that may be given several times: all its values. */
export const collected = (value: string, earlier: readonly string[]): readonly string[] => [...earlier, value];

/** Of an option that may be given several times: verbs that a person can be asked about before they are done. */
export function confirmableVerb(value: string, earlier: readonly VerbName[]): readonly VerbName[] {
  if (isVerbName(value) && value !== 'ask') return [...earlier, value];
  throw new InvalidArgumentError(`It must be one of ${VERB_NAMES.filter((verb) => verb !== 'ask').join(', ')}.`);
}

/** Without any `--confirm-verb`. */
export const NO_VERBS: readonly VerbName[] = [];

/** Without any `--confirm-command`. */
export const NO_COMMANDS: readonly string[] = [];

/** Without any `--allow-host`. */
export const NO_HOSTS: readonly string[] = [];
