/** Of the text in one typed line; with what stands around it, a line editor that holds 1023 characters takes it. */
const LINE_MAX_CHARS = 400;

/** Holds the command in the shell while it is typed, line by line. */
const VARIABLE = 'inquest_command';

/** Lines for an interactive POSIX shell. Typed in this order they leave a command in a variable. */
export interface TypedCommand {
  /** How each line changes the variable, and how many characters it then has. */
  readonly lines: readonly { readonly line: string; readonly totalChars: number }[];
  /** Runs it with an empty standard input; its exit status is `$?` then. */
  readonly run: string;
}

/**
 * A command as it can be typed. All but plain characters are escaped for `printf %b`: a terminal would act on a tab or
 * an interrupt character, a shell on quotes and exclamation marks.
 */
export function typedCommand(command: string): TypedCommand {
  const lines: { line: string; totalChars: number }[] = [];
  let totalChars = 0;
  for (const part of partsOf(command)) {
    totalChars += part.length;
    lines.push({ line: `${VARIABLE}=${lines.length === 0 ? '' : `$${VARIABLE}`}'${part}'`, totalChars });
  }
  return { lines, run: `/bin/sh -c "$(printf %b "$${VARIABLE}")" </dev/null` };
}

/** No escape is cut in two. */
function partsOf(command: string): readonly string[] {
  const parts: string[] = [];
  let part = '';
  for (const byte of Buffer.from(command)) {
    const typed = escaped(byte);
    if (part.length + typed.length > LINE_MAX_CHARS) {
      parts.push(part);
      part = '';
    }
    part += typed;
  }
  return [...parts, part];
}

function escaped(byte: number): string {
  const character = String.fromCharCode(byte);
  return /[\w ./:;,=+@%|&()<>$"*?[\]{}~#-]/.test(character) ? character : `\\0${byte.toString(8).padStart(3, '0')}`;
}
