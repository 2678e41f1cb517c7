import type { Redirection } from 'unbash';

import { derivedField, type Field } from './arguments';
import { SHELLS } from './command-prefixes';
import type { CommandExpansion } from './literal-output';

const OVERWRITING: ReadonlySet<string> = new Set(['>', '>|']);
const APPENDING = '>>';

// More files than people write scripts into.
const MAX_FILES = 256;

const normalized = (path: string): string => path.replace(/^(?:\.\/+)+/, '');

/** A file with literal text, and where the text that wrote it stands. */
export interface ScriptFile<Place> {
  readonly text: Field;
  readonly place: Place;
}

/** The files that the script writes with literal text, so that `sh FILE` can be followed. */
export class ScriptFiles<Place> {
  private readonly files = new Map<string, ScriptFile<Place>>();

  /** What is in the file, or null when that is not known. */
  get(path: string): ScriptFile<Place> | null {
    return this.files.get(normalized(path)) ?? null;
  }

  /** The same of a program that is run by its path: null when its first line names another interpreter than a shell. */
  getProgram(path: string): ScriptFile<Place> | null {
    const file = this.get(path);
    return file !== null && isForShell(file.text.text) ? file : null;
  }

  /** Notes what a command with these redirections prints into files; null: nobody knows what it prints. */
  recordRedirects(
    redirects: readonly Redirection[],
    words: CommandExpansion,
    { output, place }: { readonly output: () => Field | null; readonly place: Place },
  ): void {
    for (const redirect of redirects) {
      const isAppended = redirect.operator === APPENDING;
      if (redirect.type !== 'Redirect' || !(isAppended || OVERWRITING.has(redirect.operator))) continue;
      if (redirect.descriptor !== undefined && !isStdout(redirect)) continue;
      const [file] = redirect.target === undefined ? [] : (words.expandWord(redirect.target)[0] ?? []);
      if (file !== undefined) this.record(file, { text: output(), place, isAppended });
    }
  }

  /** Notes what is in a file now; the text is null when nobody knows. */
  record(
    file: Field,
    { text, place, isAppended }: { readonly text: Field | null; readonly place: Place; readonly isAppended: boolean },
  ): void {
    if (!file.isKnown) return;
    const name = normalized(file.text);
    const before = isAppended ? this.files.get(name) : undefined;
    if (text === null || this.files.size >= MAX_FILES) this.files.delete(name);
    else this.files.set(name, { place, text: before === undefined ? text : joined(before.text, text) });
  }
}

const joined = (before: Field, added: Field): Field => derivedField(before.text + added.text, added.pos);

/** A program without a first line that names its interpreter is run by the shell. */
function isForShell(text: string): boolean {
  if (!text.startsWith('#!')) return true;
  const words = (text.split('\n', 1)[0] ?? '').slice(2).trim().split(/\s+/);
  return words.some((word) => SHELLS.has(word.slice(word.lastIndexOf('/') + 1)));
}

const isStdout = ({ descriptor }: Redirection): boolean =>
  descriptor?.type === 'FileDescriptor' && descriptor.value === 1;
