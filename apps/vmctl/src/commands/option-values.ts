import { InvalidArgumentError } from '@commander-js/extra-typings';

/** A whole number from 0; the option parser names the option when it throws. */
export function wholeNumber(value: string): number {
  const number = Number(value);
  if (value.trim() !== '' && Number.isSafeInteger(number) && number >= 0) return number;
  throw new InvalidArgumentError('It must be a whole number.');
}

/** Seconds, fractions allowed, at most a day. */
export function seconds(value: string): number {
  const number = Number(value);
  if (value.trim() !== '' && number >= 0 && number <= MAX_SECONDS) return number;
  throw new InvalidArgumentError(`It must be a number of seconds, at most ${MAX_SECONDS}.`);
}

const MAX_SECONDS = 86_400;
