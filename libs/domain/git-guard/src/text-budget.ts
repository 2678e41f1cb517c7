/** The longest script that is examined, in UTF-16 code units: far above what a model writes by hand. */
export const MAX_SCRIPT_LENGTH = 256 * 1024;

// A loop or a function in a short script is seen more often than a part of a long one.
const LEAST_WORK_LENGTH = 64 * 1024;

/** What is parsed and expanded for one script in all: room for every part of a long one to be seen about three times. */
export const workLength = (script: string): number => LEAST_WORK_LENGTH + 3 * script.length;

/** Bounds the work that a small script can cause by expanding variables and nesting scripts in scripts. */
export class TextBudget {
  private remaining: number;

  /** @param limit UTF-16 code units that may be spent in all. */
  constructor(limit: number) {
    this.remaining = limit;
  }

  /** Takes `length` code units; false, and nothing is taken, when they are not left. */
  spend(length: number): boolean {
    if (length > this.remaining) return false;
    this.remaining -= length;
    return true;
  }
}
