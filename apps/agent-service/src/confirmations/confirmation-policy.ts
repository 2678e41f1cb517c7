import type { ConfirmationPolicy, VerbName } from '@inquest/contracts-agent';

/** Whether one of `policies` wants a person to approve of this call. Time and memory grow with the length of its command. */
export function needsPerson(policies: readonly ConfirmationPolicy[], verb: VerbName, args: object): boolean {
  if (policies.some(({ verbs }) => verbs.includes(verb))) return true;
  const command: unknown = Reflect.get(args, 'command');
  const phrases = policies.flatMap(({ commands }) => commands).map((phrase) => phrase.split(' '));
  if (typeof command !== 'string' || phrases.length === 0) return false;
  const words = wordsOf(command);
  return phrases.some((phrase) => words.some((_, at) => standsAt(words, at, phrase)));
}

/** The words of a command line as far as a shell would see the same ones, without what only holds them together. */
const wordsOf = (command: string): readonly string[] =>
  command
    .replace(/\\\n|["'\\]/g, '')
    .split(/[\s;&|()<>`]+/)
    .filter((word) => word !== '');

const standsAt = (words: readonly string[], at: number, phrase: readonly string[]): boolean =>
  phrase.every((wanted, index) => isWord(words[at + index] ?? '', wanted));

/** `/bin/rm` is `rm`. */
const isWord = (word: string, wanted: string): boolean => word === wanted || word.endsWith(`/${wanted}`);
