import fc from 'fast-check';

import { guardGit } from './guard-git';
import { hostileScripts } from './testing';

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
  const [SHORT, LONG] = [8 * 1024, 32 * 1024];

  // Four times the length takes about four times the time, sixteen times when it is quadratic.
  const MAX_RATIO = 9;

  // Below this, start-up costs and the clock decide.
  const LEAST_MS = 2;

  const shortScripts = hostileScripts(SHORT);
  const longScripts = hostileScripts(LONG);

  /** Of this process, so that other work on the machine does not count: the least of some tries. */
  function leastCpuMs(script: string, tries: number): number {
    const times = Array.from({ length: tries }, () => {
      const before = process.cpuUsage();
      guardGit(script);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    });
    return Math.min(...times);
  }

  it.each(Object.keys(longScripts))('examines %s in linear time, and finds no write', (name) => {
    const [short = '', long = ''] = [shortScripts[name], longScripts[name]];
    expect(guardGit(long).write).toBe(false);
    const shortMs = Math.max(LEAST_MS, leastCpuMs(short, 2));
    // A slow moment of the machine is not a slow shape.
    const isLinear = [2, 5, 10].some((tries) => leastCpuMs(long, tries) <= MAX_RATIO * shortMs);
    expect(isLinear).toBe(true);
  });
});
