/**
 * What decides between the reading and the writing forms of one git subcommand. The checks apply in the order of the
 * properties; a command line that none of them settles is a write.
 */
export interface SubcommandForms {
  /** Options that take the next word as their value, so that it is not counted as an operand. */
  readonly valued?: readonly string[];
  /** Options that make it a read whatever else is given. */
  readonly dryRunOptions?: readonly string[];
  /** Options that make it a write. */
  readonly writeOptions?: readonly string[];
  /** Options that make it a listing, so that its operands are patterns. */
  readonly readOptions?: readonly string[];
  /** First operands that make it a read. */
  readonly readVerbs?: readonly string[];
  /** First operands that make it a write. */
  readonly writeVerbs?: readonly string[];
  /** With at most this many operands it is a read. */
  readonly maxReadOperands?: number;
  /** What is left is a read. */
  readonly otherwiseReads?: true;
}

export type SubcommandEffect = 'reads' | 'writes' | SubcommandForms;

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const READS = words(`
  annotate archive blame bugreport cat-file check-attr check-ignore check-mailmap check-ref-format cherry
  column count-objects describe diagnose diff diff-files diff-index diff-pairs diff-tree difftool
  fmt-merge-msg for-each-ref format-patch get-tar-commit-id grep help hook imap-send interpret-trailers
  last-modified log ls-files ls-remote ls-tree mailinfo mailsplit merge-base merge-file name-rev
  pack-redundant patch-id range-diff repo request-pull rev-list rev-parse send-email sh-i18n sh-setup shortlog
  show show-branch show-index show-ref status stripspace unpack-file upload-archive upload-pack var
  verify-commit verify-pack verify-tag version whatchanged
`);

const WRITES = words(`
  archimport backfill checkout checkout-index cherry-pick citool clone commit-tree credential cvsexportcommit
  cvsimport cvsserver fast-import fetch-pack filter-branch filter-repo flow for-each-repo gc gui history
  http-backend http-fetch http-push index-pack init init-db instaweb maintenance merge merge-index
  merge-octopus merge-one-file merge-ours merge-recursive merge-resolve merge-subtree mergetool mktag mktree
  pack-refs prune-packed pull quiltimport receive-pack repack replay reset restore revert send-pack subtree
  svn switch update-index update-ref update-server-info write-tree
`);

// `-n` is a dry run only where it is listed: for commit it means --no-verify, for fetch --no-tags.
const DRY_RUN: SubcommandForms = { dryRunOptions: ['-n', '--dry-run'] };

const FORMS: Readonly<Record<string, SubcommandForms>> = {
  add: DRY_RUN,
  am: { dryRunOptions: ['--show-current-patch'] },
  apply: {
    // Without --index it changes plain files only, which the guest may do.
    valued: ['-p', '-C', '--directory', '--exclude', '--include', '--whitespace'],
    dryRunOptions: ['--check', '--stat', '--numstat', '--summary'],
    writeOptions: ['--index', '--cached', '--3way', '-3', '-N', '--intent-to-add', '--build-fake-ancestor'],
    otherwiseReads: true,
  },
  bisect: { readVerbs: ['log', 'view', 'visualize', 'terms', 'help'], maxReadOperands: 0 },
  branch: {
    valued: ['--sort', '--format', '-u', '--set-upstream-to'],
    writeOptions: [
      '-d',
      '-D',
      '--delete',
      '-m',
      '-M',
      '--move',
      '-c',
      '-C',
      '--copy',
      '-f',
      '--force',
      '-u',
      '--set-upstream-to',
      '--unset-upstream',
      '--edit-description',
      '-t',
      '--track',
      '--create-reflog',
    ],
    readOptions: [
      '-l',
      '--list',
      '-a',
      '--all',
      '-r',
      '--remotes',
      '--show-current',
      '--contains',
      '--no-contains',
      '--merged',
      '--no-merged',
      '--points-at',
    ],
    maxReadOperands: 0,
  },
  bundle: { readVerbs: ['create', 'verify', 'list-heads'] },
  clean: { valued: ['-e', '--exclude'], ...DRY_RUN },
  commit: {
    valued: ['-m', '--message', '-F', '--file', '-C', '-c', '--author', '--date'],
    dryRunOptions: ['--dry-run'],
  },
  'commit-graph': { readVerbs: ['verify'] },
  config: {
    valued: ['-f', '--file', '--blob', '--type', '--default', '--comment', '--value', '--url'],
    writeOptions: [
      '--add',
      '--unset',
      '--unset-all',
      '--replace-all',
      '--rename-section',
      '--remove-section',
      '-e',
      '--edit',
    ],
    readOptions: [
      '-l',
      '--list',
      '--get',
      '--get-all',
      '--get-regexp',
      '--get-urlmatch',
      '--get-color',
      '--get-colorbool',
    ],
    writeVerbs: ['set', 'unset', 'edit', 'rename-section', 'remove-section'],
    readVerbs: ['list', 'get'],
    // `git config user.name` prints the value.
    maxReadOperands: 1,
  },
  'fast-export': { otherwiseReads: true, writeOptions: ['--export-marks'] },
  fetch: { dryRunOptions: ['--dry-run'] },
  fsck: { writeOptions: ['--lost-found'], otherwiseReads: true },
  'hash-object': { writeOptions: ['-w'], otherwiseReads: true },
  lfs: { readVerbs: ['ls-files', 'env', 'status', 'version', 'logs', 'locks', 'help', 'pointer', 'fsck'] },
  'merge-tree': { readOptions: ['--trivial-merge'] },
  'multi-pack-index': { valued: ['--object-dir'], readVerbs: ['verify'] },
  mv: DRY_RUN,
  notes: { valued: ['--ref'], readVerbs: ['list', 'show', 'get-ref'], maxReadOperands: 0 },
  'pack-objects': { readOptions: ['--stdout'] },
  prune: DRY_RUN,
  push: { valued: ['-o', '--push-option', '--repo', '--receive-pack', '--exec'], ...DRY_RUN },
  'read-tree': DRY_RUN,
  rebase: { dryRunOptions: ['--show-current-patch'] },
  reflog: { writeVerbs: ['expire', 'delete', 'drop', 'write'], otherwiseReads: true },
  refs: { readVerbs: ['verify', 'list', 'exists'] },
  remote: { readVerbs: ['show', 'get-url'], maxReadOperands: 0 },
  replace: {
    valued: ['--format'],
    writeOptions: ['-d', '--delete', '-e', '--edit', '-f', '--force', '-g', '--graft', '--convert-graft-file'],
    readOptions: ['-l', '--list'],
    maxReadOperands: 0,
  },
  rerere: { readVerbs: ['status', 'diff', 'remaining'] },
  rm: DRY_RUN,
  'sparse-checkout': { readVerbs: ['list', 'check-rules'] },
  stash: { readVerbs: ['list', 'show'] },
  submodule: { readVerbs: ['status', 'summary'], maxReadOperands: 0 },
  'symbolic-ref': { valued: ['-m'], writeOptions: ['-d', '--delete'], maxReadOperands: 1 },
  tag: {
    valued: ['--sort', '--format', '-m', '--message', '-F', '--file', '-u', '--local-user'],
    writeOptions: [
      '-d',
      '--delete',
      '-a',
      '--annotate',
      '-s',
      '--sign',
      '-u',
      '--local-user',
      '-f',
      '--force',
      '-m',
      '--message',
      '-F',
      '--file',
      '-e',
      '--edit',
      '--create-reflog',
    ],
    readOptions: [
      '-l',
      '--list',
      '-n',
      '-v',
      '--verify',
      '--contains',
      '--no-contains',
      '--merged',
      '--no-merged',
      '--points-at',
    ],
    maxReadOperands: 0,
  },
  'unpack-objects': { dryRunOptions: ['-n'] },
  worktree: { readVerbs: ['list'] },
};

// `git stage` is the documented synonym of `git add`.
const SYNONYMS: Readonly<Record<string, string>> = { stage: 'add' };

const EFFECTS: ReadonlyMap<string, SubcommandEffect> = new Map<string, SubcommandEffect>([
  ...READS.map((name) => [name, 'reads'] as const),
  ...WRITES.map((name) => [name, 'writes'] as const),
  ...Object.entries(FORMS),
]);

/**
 * What a git subcommand does to a repository; null for a name that git does not document, which is then an alias or an
 * extension. Names and options are those of the manual pages of git 2.52.
 */
export const effectOf = (subcommand: string): SubcommandEffect | null =>
  EFFECTS.get(SYNONYMS[subcommand] ?? subcommand) ?? null;

/** Options of `git` itself that take the next word as their value: git(1), OPTIONS. */
export const GLOBAL_VALUED_OPTIONS: ReadonlySet<string> = new Set([
  '-C',
  '-c',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--super-prefix',
  '--config-env',
  '--attr-source',
]);

/** Options of `git` itself that print something and end it before any subcommand: git(1), OPTIONS. */
export const GLOBAL_INFO_OPTIONS: ReadonlySet<string> = new Set([
  '--version',
  '-v',
  '--help',
  '-h',
  '--html-path',
  '--man-path',
  '--info-path',
  '--list-cmds',
  // With a value it is an option like others.
  '--exec-path',
]);
