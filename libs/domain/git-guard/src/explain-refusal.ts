import type { WriteVerdict } from './guard-verdict';

const RESTORE = 'To get an old version of a file back, write it: `git show HEAD:path/to/file > path/to/file`.';
const PUBLISH = 'Publishing is done by the host after the commit; there is nothing to push or fetch in here.';
const CONFIGURE =
  'No configuration is needed: git_commit sets author and committer, and reading commands work as they are.';
const BRANCH = 'Branches and tags are made by the host when the session is published.';
const SOURCES = 'To get other sources, download an archive of them (curl, pip, npm) outside the project.';

/** What to do instead of the commands that `git_commit` alone does not replace. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ...(['checkout', 'restore', 'reset', 'revert', 'stash', 'clean'] as const).map((name) => [name, RESTORE] as const),
  ...(['push', 'pull', 'fetch', 'remote', 'send-pack'] as const).map((name) => [name, PUBLISH] as const),
  ...(['config', 'init'] as const).map((name) => [name, CONFIGURE] as const),
  ...(['branch', 'switch', 'tag', 'worktree'] as const).map((name) => [name, BRANCH] as const),
  ...(['clone', 'submodule'] as const).map((name) => [name, SOURCES] as const),
]);

/** The text a model gets in place of the output of a refused script: what was refused, why, and what to do instead. */
export function explainRefusal({ command, reason }: WriteVerdict): string {
  const advice = ADVICE.get(command);
  return [
    `Refused, and no part of the script was run: ${reason}`,
    'The repository belongs to the host, and its .git cannot be written from this machine. The command would end with exit code 128: git finds the directory owned by another user and reports "detected dubious ownership". Neither sudo nor safe.directory changes that.',
    'Change the files in place, then call the verb `git_commit` with a message: it commits on the host, leaves scratch files out, and says what it held back.',
    ...(advice === undefined ? [] : [advice]),
    'Commands that read (git status, diff, log, show, blame) may be used freely: run the rest of the script without the refused command.',
  ].join('\n');
}
