/** Where something stands in the guarded script. */
export interface ScriptPosition {
  /** UTF-16 code units from the start of the script, from 0. */
  readonly offset: number;
  /** Line number, from 1. */
  readonly line: number;
  /** UTF-16 code units from the start of the line, from 1. */
  readonly column: number;
}

/** The script holds a git command that writes to a repository. */
export interface WriteVerdict {
  readonly write: true;
  /** The git subcommand as the script spells it: `add`, `commit`, `config`, or the name of an unknown alias. */
  readonly command: string;
  /**
   * The first such command. Exact for text that stands verbatim in the script, also inside `sh -c '...'` and heredocs;
   * the start of the carrying word when the text is put together (variables, escapes).
   */
  readonly position: ScriptPosition;
  /** One sentence for the reader of a refusal: which command, where, and why it counts as a write. */
  readonly reason: string;
  readonly parsed: boolean;
}

/** No git command that writes was found. */
export interface NoWriteVerdict {
  readonly write: false;
  readonly command: null;
  readonly position: null;
  /** Why a part could not be read; null when `parsed` is true. */
  readonly reason: string | null;
  /** False when the script, or a script inside it, could not be read: then `write: false` proves nothing. */
  readonly parsed: boolean;
}

/** What the guard says about one shell script. It is guidance for the author of the script, not a control. */
export type GuardVerdict = WriteVerdict | NoWriteVerdict;
