const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Numbered lines until the text is `length` long. */
function lines(length: number, line: (i: number) => string): string {
  let text = '';
  for (let i = 0; text.length < length; i++) text += `${line(i)}\n`;
  return text;
}

/** `sh -c` in `sh -c` in ..., as deep as fits: each level doubles the quotes of the one inside. */
function levels(length: number): string {
  let script = 'git log';
  for (let next = script; next.length <= length; next = `sh -c ${quoted(script)}`) script = next;
  return script;
}

/**
 * Scripts of about `length` code units in shapes that make careless parsers and walkers slow or overflow their stack: by
 * name. None of them writes to a repository.
 */
export function hostileScripts(length: number): Readonly<Record<string, string>> {
  const fill = (piece: string): string => piece.repeat(Math.floor(length / piece.length));
  /** Nested `depth` times, by default as deep as fits. */
  const nest = (open: string, inner: string, close: string, depth = length / (open.length + close.length)): string =>
    `${open.repeat(Math.floor(depth))}${inner}${close.repeat(Math.floor(depth))}`;
  return {
    // Commands.
    'reading commands': fill('git log --oneline -5 && git status --short\n'),
    'a mix of commands': fill('for f in *.py; do python3 -m py_compile "$f" || echo "$f: no git add"; done\n'),
    'short commands': fill('a;'),
    'one long word': `echo ${fill('a')}`,
    arguments: `git log ${fill('a ')}`,
    'quoted arguments': `echo ${fill("'a' ")}`,
    options: `git ${fill('-c a=b ')} log`,
    'forms of git': fill('git tag -l; git config --get a\n'),
    'lists with &&': `${fill('a && ')} b`,
    'lists with ||': `${fill('a ||\n')} b`,
    'one pipeline': `${fill('cat x | ')}cat`,
    negations: fill('! a\n'),
    redirections: `echo ${fill('>a ')}`,
    comments: fill('# git add -A && git commit -m x\n'),
    'one comment': `#${fill('git add ')}`,
    newlines: fill('\n'),
    'other alphabets': fill('écho «git» 日本\n'),
    'nul characters': fill('\0'),

    // Heredocs.
    'one heredoc': `cat > notes.md <<'EOF'\n${fill('run git add and git commit -m "x"\n')}EOF\n`,
    'many heredocs': fill('cat <<E\nx\nE\n'),
    'heredocs for shells': fill('sh <<E\ngit log\nE\n'),
    'open heredocs': fill('cat <<E '),
    'substitutions in a heredoc': `cat <<E\n${fill('$(git log) ${x}\n')}E\n`,
    'a heredoc for a shell': `sh <<E\n${fill('git log $(date) "$x"\n')}E\n`,
    herestrings: fill("sh <<< 'git log'\n"),

    // Scripts inside scripts.
    'quotes in quotes': fill(`sh -c 'echo "git log"'\n`),
    'short scripts in quotes': fill('sh -c x\n'),
    'levels of sh -c': levels(length),
    'many levels of sh -c': fill(`${levels(length / 100)}\n`),
    'eval of eval': fill('eval '),
    'many evals': fill('eval x\n'),
    'evals in evals': fill("eval 'eval x'\n"),
    'evals in quotes': nest('eval "', 'x', '"'),
    'printed scripts': fill("echo 'git log' | sh\n"),
    'scripts made by printf': fill("printf 'git log\\n' | sh\n"),
    traps: fill("trap 'git log' EXIT\n"),
    substitutions: fill('x=$(git rev-parse HEAD); echo "${x:0:7} $(date)"\n'),
    'substitutions in one word': `echo "${fill('$(a)')}"`,
    'nested substitutions': `${nest('echo $(', 'x', ')', 200)}\n`,
    'substitutions nested without end': nest('echo $(', 'x', ')'),
    backticks: fill('`a`'),
    'open backticks': fill('`'),
    'open substitutions': fill('$('),
    'open substitutions in quotes': fill('"$('),
    'process substitutions': fill('cat <(git log)\n'),
    'found commands': fill('$(which git) log\n'),

    // Compound commands.
    'case arms': `case $x in\n${fill('a) git log;;\n')}esac`,
    'alternatives of a case': `case x in ${fill('a|')}b) git log;; esac`,
    'nested cases': nest('case x in x) ', 'git log', ';; esac', 200),
    'open cases': fill('case x in '),
    conditions: fill('if a; then b; fi\n'),
    'else branches': `if a; then b\n${fill('elif a; then b\n')}fi`,
    'nested conditions': nest('if a; then ', 'b', '; fi'),
    loops: fill('for x in a b; do $x; done\n'),
    'nested loops': nest('for x in a; do ', '$x', '; done', 200),
    'words of a loop': `for x in ${fill('a ')}; do $x; done`,
    'open subshells': fill('('),
    subshells: nest('( ', 'a', ' )'),
    'open groups': fill('{ '),
    groups: nest('{ ', 'a', '; }'),
    'closing words': fill('done; fi; esac; '),
    tests: `[[ ${fill('a && ')} b ]]`,
    'negated tests': `[[ ${fill('! ')} x ]]`,
    'open tests': fill('[[ '),
    coprocesses: fill('coproc a\n'),
    'a mix of nestings': nest('if a; then ( { x=$(', 'b', '); } ) fi', 60),

    // Functions and aliases.
    functions: fill('f() { git log; }\n'),
    'functions of different names': lines(length, (i) => `f${i}() { git log; }`),
    'nested functions': nest('f() { ', 'git log', '; }', 200),
    'function calls': `f() { git log "$@"; }\n${fill('f a b\n')}`,
    'long functions': `f() {\n${'a\n'.repeat(length / 4)}}\n${'f\n'.repeat(length / 4)}`,
    'recursive functions': `${fill('f() { f; f; }\n')}f`,
    'function and call': fill('f() { git log; }; f\n'),
    aliases: lines(length, (i) => `alias a${i}='git log'; a${i}`),
    'a chain of aliases': `${lines(length, (i) => `alias a${i}=a${i + 1}`)}a0`,
    'aliases of themselves': fill("alias a='a a'\na\n"),

    // Prefixes.
    prefixes: `${fill('sudo ')} git log`,
    'dynamic prefixes': `${fill('$x ')} git log`,
    'arguments behind a prefix': `sudo git log ${fill('a ')}`,
    'short lines of prefixes': fill('sudo -u x env A=1 nice git log\n'),
    xargs: fill('ls | xargs git log\n'),
    'find -exec': `find . ${fill('-exec a ; ')}`,

    // Words and variables.
    variables: lines(length, (i) => `x${i}=git`),
    assignments: fill('x=git\n'),
    'assignments of a command': `${fill('A=1 ')}git log`,
    'a variable as command': `g=git\n${fill('$g log\n')}`,
    'long variables': `x=${'a '.repeat(1000)}\n${fill('echo $x\n')}`,
    'variables in one word': `x=${quoted('a '.repeat(1000))}\necho ${fill('$x')}`,
    'variables in quotes': `echo "${fill('$x ')}"`,
    'doubling variables': `x=aaaa\n${fill('x=$x$x\n')}`,
    appends: fill('x+=abc\n'),
    alternatives: `for x in ${'a '.repeat(500)}; do\n${fill('echo $x $x $x\n')}done`,
    'positional parameters': `set -- ${fill('a ')}\n"$@"`,
    arrays: `a=(${fill('x ')}); "\${a[@]}"`,
    'short arrays': fill('a=(x y); "${a[@]}"\n'),
    'default values': fill('${G:-git} log\n'),
    'nested default values': `echo ${nest('${x:-', 'a', '}')}`,
    'replaced values': fill('echo ${x//a/b} ${x%.*} ${#x} ${x^^}\n'),
    'open parameters': fill('${'),
    'dollar signs': fill('$$ '),
    braces: fill('echo {a,b}{a,b}{a,b}\n'),
    'braces in one word': `echo ${fill('{a,b}')}`,
    globs: fill('ls *.[ch]? '),
    'extended globs': fill('ls @(a|b)\n'),
    'nested extended globs': `ls ${nest('@(', 'a', ')')}`,
    'quotes of all kinds': fill(`"'`),
    'open quotes': fill('"'),
    'escaped quotes': `echo "${fill('\\"')}"`,
    'ANSI-C quotes': fill("$'git' log\n"),
    backslashes: fill('\\'),
    'continued lines': `echo ${fill('\\\n')}x`,
    'newlines in a substitution': `x=$(echo ${quoted(fill('\n'))}x)`,
    printf: `printf ${fill('%s')} ${'a '.repeat(1000)} | sh`,
    'repeats of printf': `printf %s ${fill('a ')} | sh`,
    'repeats of a long printf': `printf ${quoted(`${'x'.repeat(length / 2)}%s`)} ${'a '.repeat(length / 4)} | sh`,

    // Arithmetic.
    arithmetic: `echo $((${fill('1+')}1))`,
    'arithmetic with variables': fill('echo $((x + ${y} * $z))\n'),
    'nested arithmetic': nest('$((', '1', '))'),
    'open arithmetic': fill('$(('),
    'arithmetic parentheses': `((${fill('(')}`,
    'arithmetic loops': fill('for ((i=0;i<3;i++)); do a; done\n'),
  };
}
