import fc from 'fast-check';

import { guardGit } from './guard-git';

type Wrap = (script: string) => string;

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Constructs that run any script. */
const SCRIPT_WRAPS: readonly Wrap[] = [
  (s) => `cd /mnt/project && ${group(s)}`,
  (s) => `true; ${s}`,
  (s) => `ls\n${s}\nls`,
  (s) => `${group(s)} | cat`,
  (s) => `test -d x || ${group(s)}`,
  (s) => `${group(s)} &`,
  (s) => `( ${s}\n)`,
  group,
  (s) => `echo $( ${s}\n)`,
  (s) => `echo "result: $( ${s}\n)"`,
  (s) => `x=$( ${s}\n)`,
  (s) => `cat <( ${s}\n)`,
  (s) => `if ${group(s)}; then :; fi`,
  (s) => `if true; then ${s}\nfi`,
  (s) => `for f in a b; do ${s}\ndone`,
  (s) => `while true; do ${s}\ndone`,
  (s) => `case x in x) ${s}\n;; esac`,
  (s) => `save() { ${s}\n}\nsave`,
  (s) => `sh -c ${quoted(s)}`,
  (s) => `sudo -u bob bash -lc ${quoted(s)}`,
  (s) => `eval ${quoted(s)}`,
  (s) => `trap ${quoted(s)} EXIT`,
  (s) => `find . -exec sh -c ${quoted(s)} \\;`,
  (s) => `xargs -0 -n 1 sh -c ${quoted(s)} < list`,
  (s) => `script=${quoted(s)}; bash -c "$script"`,
  (s) => `sh <<< ${quoted(s)}`,
];

function group(script: string): string {
  return `{ ${script}\n}`;
}

/** Prefixes of one command line. */
const PREFIXES: readonly string[] = [
  'sudo ',
  'sudo -u bob ',
  'doas ',
  'env A=1 ',
  'env -i ',
  'command ',
  'builtin command ',
  'exec ',
  'nohup ',
  'timeout 5 ',
  'nice -n 5 ',
  'stdbuf -oL ',
  'setsid ',
  'ionice -c 3 ',
  'chroot / ',
  'xargs ',
  'xargs -n 1 ',
  '> out.txt ',
  '$SUDO ',
  'busybox ',
  'strace -f ',
  'flock lock ',
];

const GIT_WORDS: readonly string[] = [
  'git',
  '/usr/bin/git',
  '\\git',
  "g''it",
  '"git"',
  "$'git'",
  'git -C /x',
  'git -c a.b=c',
];

const WRITES: readonly (readonly [string, string])[] = [
  ['add', 'add -A'],
  ['commit', 'commit -m "a b"'],
  ['push', 'push origin main'],
  ['config', 'config --global --add safe.directory /x'],
  ['stash', 'stash'],
  ['worktree', 'worktree add x'],
  ['unknown-alias', 'unknown-alias'],
];

const READS: readonly string[] = [
  'log -1',
  'status',
  'diff',
  'branch --list',
  'config --get a.b',
  'stash list',
  '--version',
];

/** Constructs in which a script is only text. */
const DATA_WRAPS: readonly Wrap[] = [
  (s) => `echo ${quoted(s)}`,
  (s) => `grep -rn ${quoted(s)} .`,
  (s) => `printf %s ${quoted(s)} > run.sh`,
  (s) => `cat > run.sh <<'END-OF-FILE'\n${s}\nEND-OF-FILE`,
  (s) => `python3 - <<'END-OF-FILE'\n${s}\nEND-OF-FILE`,
  (s) => `message=${quoted(s)}; echo "$message"`,
  (s) =>
    s
      .split('\n')
      .map((line) => `# ${line}`)
      .join('\n'),
  (s) => `git log --grep=${quoted(s)}`,
];

// The shell itself takes assignments only in front of the first word.
const ASSIGNMENTS: readonly string[] = ['', 'A=1 B="x y" ', 'GIT_DIR=/x/.git '];

const commandLine = (words: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom(...ASSIGNMENTS),
      fc.array(fc.constantFrom(...PREFIXES), { maxLength: 3 }),
      fc.constantFrom(...GIT_WORDS),
      fc.constantFrom(...words),
    )
    .map(([assignments, prefixes, git, rest]) => `${assignments}${prefixes.join('')}${git} ${rest}`);

const nestings = fc.array(fc.constantFrom(...SCRIPT_WRAPS), { maxLength: 4 });

const nest = (script: string, wraps: readonly Wrap[]): string => wraps.reduce((inner, wrap) => wrap(inner), script);

describe('guardGit on generated scripts', () => {
  it('refuses a write in any nesting of constructs and prefixes', () => {
    const write = fc
      .constantFrom(...WRITES)
      .chain(([command, rest]) => fc.tuple(fc.constant(command), commandLine([rest])));
    fc.assert(
      fc.property(write, nestings, ([command, line], wraps) => {
        expect(guardGit(nest(line, wraps))).toMatchObject({ write: true, command, parsed: true });
      }),
      { numRuns: 500 },
    );
  });

  it('allows a read in any nesting of constructs and prefixes', () => {
    fc.assert(
      fc.property(commandLine(READS), nestings, (line, wraps) => {
        expect(guardGit(nest(line, wraps))).toMatchObject({ write: false, parsed: true });
      }),
      { numRuns: 500 },
    );
  });

  it('allows a write that is only text, wherever the text stands', () => {
    const lines = commandLine(WRITES.map(([, rest]) => rest));
    fc.assert(
      fc.property(lines, nestings, fc.constantFrom(...DATA_WRAPS), (line, wraps, quote) => {
        expect(guardGit(quote(nest(line, wraps)))).toMatchObject({ write: false, parsed: true });
      }),
      { numRuns: 500 },
    );
  });

  it('gives a position inside the script, or none', () => {
    const pieces = fc.constantFrom(
      'git add',
      'sh -c',
      "'",
      '"',
      '$(',
      ')',
      '`',
      '<<E\n',
      'E\n',
      '{a,b}',
      '$x',
      'x=',
      ';',
      '|',
      '\\',
      ' ',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (tokens) => {
        const script = tokens.join('');
        const { write, position } = guardGit(script);
        expect(position !== null).toBe(write);
        if (position !== null) expect(position.offset).toBeLessThan(script.length);
      }),
      { numRuns: 500 },
    );
  });

  it('never throws for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(typeof guardGit(text).parsed).toBe('boolean');
      }),
    );
  });
});

describe('guardGit on large hostile scripts', () => {
  const fill = (piece: string): string => piece.repeat(Math.floor(100_000 / piece.length));

  // A quadratic walk of 100 KB takes minutes; a linear one about a second on a busy machine.
  const DEADLINE_MS = 15_000;

  it.each([
    ['lines', fill('git log -1\n')],
    ['arguments', `git log ${fill('a ')}`],
    ['variables', `x=${'a '.repeat(1000)}\n${fill('echo $x\n')}`],
    ['variables in one word', `x=${quoted('a '.repeat(1000))}\necho ${fill('$x')}`],
    ['doubling variables', `x=aaaa\n${fill('x=$x$x\n')}`],
    ['prefixes', `${fill('sudo ')} git log`],
    ['dynamic prefixes', `${fill('$x ')} git log`],
    ['arguments behind a prefix', `sudo git log ${fill('a ')}`],
    ['options', `git ${fill('-c a=b ')} log`],
    ['find -exec', `find . ${fill('-exec a ; ')}`],
    ['pipelines', `${fill('cat | ')} sh`],
    ['alternatives', `for x in ${'a '.repeat(500)}; do\n${fill('echo $x $x $x\n')}done`],
    ['braces', fill('echo {a,b}{a,b}{a,b}\n')],
    ['nested braces', `echo ${fill('{a,b}')}`],
    ['function calls', `f() {\n${fill('a\n').slice(0, 50_000)}}\n${fill('f\n')}`],
    ['recursive functions', `${fill('f() { f; f; }\n')}f`],
    ['herestrings', fill("sh <<< 'echo x'\n")],
    ['heredocs', fill('cat <<E ')],
    ['open substitutions', fill('$(')],
    ['nested substitutions', `${'echo $('.repeat(200)}x${')'.repeat(200)}\n`],
    ['open subshells', fill('(')],
    ['quotes', fill(`"'`)],
    ['arithmetic', `echo $((${fill('1+')}1))`],
    ['arithmetic parentheses', `((${fill('(')}`],
    ['conditions', `[[ ${fill('! ')} x ]]`],
    ['lists', `${fill('a && ')} b`],
    ['newlines in a substitution', `x=$(echo ${quoted(fill('\n'))}x)`],
    ['printf', `printf ${fill('%s')} ${'a '.repeat(1000)} | sh`],
    ['printf repeats', `printf %s ${fill('a ')} | sh`],
    ['printf of a long format', `printf ${quoted(`${'x'.repeat(50_000)}%s`)} ${'a '.repeat(25_000)} | sh`],
    ['arrays', `a=(${fill('x ')}); "\${a[@]}"`],
    ['appends', fill('x+=abc\n')],
    ['backticks', fill('`a`')],
  ])(
    'examines 100 KB of %s in linear time',
    (_, script) => {
      const startedMs = performance.now();
      expect(guardGit(script).write).toBe(false);
      expect(performance.now() - startedMs).toBeLessThan(DEADLINE_MS);
    },
    2 * DEADLINE_MS,
  );
});
