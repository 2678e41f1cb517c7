import type { Redirection } from 'unbash';

import type { Field } from './arguments';
import { derivedField } from './arguments';
import type { CommandExpansion } from './literal-output';

const OVERWRITING: ReadonlySet<string> = new Set(['>', '>|']);
const APPENDING = '>>';

// More files than people write scripts into.
const MAX_FILES = 256;

const normalized = (path: string): string => path.replace(/^(?:\.\/+)+/, '');

/** The files that the script writes with literal text, so that `sh FILE` can be followed. */
export class ScriptFiles {
  private readonly texts = new Map<string, Field>();

  /** What is in the file, or null when that is not known. */
  textOf(path: string): Field | null {
    return this.texts.get(normalized(path)) ?? null;
  }

  /** Notes what a command with these redirections prints into files; null: nobody knows what it prints. */
  recordRedirects(redirects: readonly Redirection[], words: CommandExpansion, output: () => Field | null): void {
    for (const redirect of redirects) {
      const isAppended = redirect.operator === APPENDING;
      if (redirect.type !== 'Redirect' || !(isAppended || OVERWRITING.has(redirect.operator))) continue;
      if (redirect.descriptor !== undefined && !isStdout(redirect)) continue;
      const [file] = redirect.target === undefined ? [] : (words.expandWord(redirect.target)[0] ?? []);
      if (file !== undefined) this.record(file, output(), isAppended);
    }
  }

  /** Notes what is in a file now; null: nobody knows. */
  record(file: Field, text: Field | null, isAppended: boolean): void {
    if (!file.isKnown) return;
    const name = normalized(file.text);
    const before = isAppended ? this.texts.get(name) : undefined;
    if (text === null || this.texts.size >= MAX_FILES) this.texts.delete(name);
    else this.texts.set(name, before === undefined ? text : derivedField(before.text + text.text, text.pos));
  }
}

const isStdout = ({ descriptor }: Redirection): boolean =>
  descriptor?.type === 'FileDescriptor' && descriptor.value === 1;
