import type { GuardVerdict, ScriptPosition } from './guard-verdict';
import { ScriptWalker, type WalkResult, type WriteFinding } from './script-walker';
import { MAX_SCRIPT_LENGTH } from './text-budget';

/**
 * Finds the first git command in a shell script that writes to a repository: in lists, pipelines, loops, functions,
 * substitutions, behind `sudo`, `env`, `xargs` and their like, in `sh -c`, `eval` and heredocs fed to a shell, and
 * through variables whose values stand in the script. Text that only mentions git is not a command. What is decided at
 * run time is not guessed.
 *
 * Never throws and takes time linear in the length of the script. A script that cannot be read is not a write, and
 * `parsed` says so.
 */
export function guardGit(script: string): GuardVerdict {
  const { finding, unread } = script.length > MAX_SCRIPT_LENGTH ? tooLong(script) : walk(script);
  const parsed = unread === null;
  if (finding === null) {
    const reason = parsed ? null : `The script could not be read in full: ${unread}.`;
    return { write: false, command: null, position: null, reason, parsed };
  }
  const position = positionOf(finding.offset, script);
  return { write: true, command: finding.subcommand, position, reason: reasonFor(finding, position), parsed };
}

const tooLong = (script: string): WalkResult => ({
  finding: null,
  unread: `it has ${script.length} characters and at most ${MAX_SCRIPT_LENGTH} are examined`,
});

function walk(script: string): WalkResult {
  try {
    return new ScriptWalker(script).walk();
  } catch (e) {
    // The only throw left: text nested so deep that the stack ran out.
    if (e instanceof RangeError || (e as Error).name === 'RangeError')
      return { finding: null, unread: 'it is nested too deep' };
    throw e;
  }
}

function positionOf(offset: number, script: string): ScriptPosition {
  const before = script.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { offset, line: before.split('\n').length, column: offset - lineStart + 1 };
}

function reasonFor({ subcommand, isKnownCommand }: WriteFinding, { line, column }: ScriptPosition): string {
  const where = `\`git ${subcommand}\` (line ${line}, column ${column})`;
  return isKnownCommand
    ? `${where} writes to the repository.`
    : `${where} is no command of git's own, so it is taken for an alias that writes to the repository.`;
}
