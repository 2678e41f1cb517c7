/** A command that runs the command line given to it. */
export interface CommandPrefix {
  /** Options that take the next word as their value. */
  readonly valued?: readonly string[];
  /** Operands before the command line: the duration of `timeout`, the directory of `chroot`. */
  readonly ownOperands?: number;
  /** `NAME=value` words may stand before the command line. */
  readonly takesAssignments?: true;
  /** Options whose value is a shell script: `su -c`, `env -S`. */
  readonly scriptOptions?: readonly string[];
  /** A command line is only taken with one of these options; without them it runs a script option or a shell on stdin. */
  readonly commandOptions?: readonly string[];
  /** Options with which it starts a shell when no command line is given. */
  readonly shellOptions?: readonly string[];
  /** Options that turn it into a lookup that runs nothing. */
  readonly lookupOptions?: readonly string[];
  /** The words are joined with spaces and read as a shell script. */
  readonly joinsScript?: true;
  /** The script runs in the calling shell, so that its assignments last. */
  readonly runsInSameShell?: true;
  /** Its options are too many or take too many words to be told apart: the first word that names a command begins one. */
  readonly findsCommand?: true;
  /** Words after which arguments follow; with no command line before them, each is a script. */
  readonly listMarkers?: readonly string[];
  /** Words from standard input are appended to the command line. */
  readonly appendsStdin?: true;
  /** A script, not a command line, follows as the first operand. */
  readonly takesScript?: true;
}

const SU: CommandPrefix = {
  valued: ['-c', '--command', '--session-command', '-s', '--shell', '-g', '--group', '-G', '-w', '-u', '--user'],
  scriptOptions: ['-c', '--command', '--session-command'],
  commandOptions: ['-u', '--user'],
};

const PLAIN: CommandPrefix = {};

/** The prefixes by command name. The options are those of the manual pages of coreutils, util-linux, sudo and findutils. */
export const COMMAND_PREFIXES: ReadonlyMap<string, CommandPrefix> = new Map<string, CommandPrefix>(
  Object.entries({
    builtin: PLAIN,
    bwrap: { findsCommand: true },
    busybox: PLAIN,
    catchsegv: PLAIN,
    chroot: { ownOperands: 1 },
    chrt: { valued: ['-T', '-P', '-D'], ownOperands: 1 },
    command: { lookupOptions: ['-v', '-V'] },
    'dbus-run-session': PLAIN,
    doas: { valued: ['-u', '-C'] },
    'dumb-init': PLAIN,
    eatmydata: PLAIN,
    env: {
      valued: ['-u', '--unset', '-C', '--chdir', '-S', '--split-string'],
      takesAssignments: true,
      scriptOptions: ['-S', '--split-string'],
    },
    entr: PLAIN,
    eval: { joinsScript: true, runsInSameShell: true },
    exec: { valued: ['-a'] },
    fakeroot: { valued: ['-l', '-s', '-i', '-b'] },
    faketime: { ownOperands: 1 },
    firejail: { findsCommand: true },
    flock: { valued: ['-w', '--timeout', '-E', '-c', '--command'], ownOperands: 1, scriptOptions: ['-c', '--command'] },
    gosu: { ownOperands: 1 },
    ionice: { valued: ['-c', '--class', '-n', '--classdata', '-p', '-P', '-u'] },
    ltrace: { valued: ['-o', '-e', '-p', '-s', '-u', '-n', '-a', '-l', '-x'] },
    nice: { valued: ['-n', '--adjustment'] },
    noglob: PLAIN,
    nohup: PLAIN,
    nsenter: { valued: ['-t', '--target', '-S', '--setuid', '-G', '--setgid'] },
    numactl: { valued: ['-N', '-m', '-C', '-p', '-i'] },
    parallel: {
      valued: ['-j', '--jobs', '-a', '--arg-file', '-I', '-N', '-n', '-L'],
      joinsScript: true,
      listMarkers: [':::', ':::+'],
    },
    pkexec: { valued: ['--user'] },
    proot: { findsCommand: true },
    prlimit: { valued: ['-p', '--pid'] },
    proxychains: { valued: ['-f'] },
    proxychains4: { valued: ['-f'] },
    rlwrap: { valued: ['-f', '-H', '-C'] },
    runuser: SU,
    screen: { findsCommand: true },
    script: {
      valued: ['-c', '--command', '-o', '-O', '-I', '-B', '-T', '-E'],
      scriptOptions: ['-c', '--command'],
      commandOptions: [],
    },
    setarch: { ownOperands: 1 },
    setpriv: { valued: ['--reuid', '--regid', '--groups', '--inh-caps', '--ambient-caps', '--bounding-set'] },
    setsid: PLAIN,
    'ssh-agent': { valued: ['-a', '-t', '-E', '-P'] },
    sshpass: { valued: ['-p', '-f', '-d', '-P'] },
    stdbuf: { valued: ['-i', '--input', '-o', '--output', '-e', '--error'] },
    strace: { valued: ['-o', '-e', '-p', '-s', '-u', '-E', '-P', '-a', '-b', '-I', '-O', '-S', '-X'] },
    su: { ...SU, commandOptions: [] },
    'su-exec': { ownOperands: 1 },
    sudo: {
      valued: [
        '-u',
        '--user',
        '-g',
        '--group',
        '-h',
        '--host',
        '-p',
        '--prompt',
        '-C',
        '--close-from',
        '-D',
        '--chdir',
        '-R',
        '--chroot',
        '-r',
        '--role',
        '-t',
        '--type',
        '-T',
        '--command-timeout',
        '-U',
        '--other-user',
      ],
      takesAssignments: true,
      shellOptions: ['-s', '--shell', '-i', '--login'],
    },
    'systemd-inhibit': PLAIN,
    'systemd-run': {
      valued: ['-p', '--property', '-u', '--unit', '-M', '--machine', '-H', '--host', '-E', '--setenv'],
    },
    taskset: { ownOperands: 1 },
    time: { valued: ['-f', '--format', '-o', '--output'] },
    timeout: { valued: ['-k', '--kill-after', '-s', '--signal'], ownOperands: 1 },
    tini: { valued: ['-p', '-e'] },
    torsocks: PLAIN,
    toybox: PLAIN,
    trap: { takesScript: true, runsInSameShell: true },
    unbuffer: PLAIN,
    unshare: { valued: ['-S', '--setuid', '-G', '--setgid', '-R', '--root', '-w', '--wd'] },
    valgrind: PLAIN,
    watch: { valued: ['-n', '--interval', '-q', '--equexit'], joinsScript: true },
    xargs: {
      valued: [
        '-a',
        '--arg-file',
        '-d',
        '--delimiter',
        '-E',
        '-I',
        '-L',
        '--max-lines',
        '-n',
        '--max-args',
        '-P',
        '--max-procs',
        '-s',
        '--max-chars',
        '--process-slot-var',
      ],
      appendsStdin: true,
    },
    'xvfb-run': { valued: ['-s', '--server-args', '-n', '--server-num', '-e', '--error-file', '-f', '-p', '-w'] },
  } satisfies Record<string, CommandPrefix>),
);

/** Shells: they run the script given by `-c`, by a file, or on standard input. */
export const SHELLS: ReadonlySet<string> = new Set([
  'sh',
  'ash',
  'bash',
  'dash',
  'fish',
  'ksh',
  'ksh93',
  'mksh',
  'posh',
  'rbash',
  'yash',
  'zsh',
]);

/** Options of the shells that take the next word as their value: bash(1), dash(1), zsh(1). */
export const SHELL_VALUED_OPTIONS: readonly string[] = ['-o', '-O', '--rcfile', '--init-file'];

/** Commands that always read a script on standard input. */
export const STDIN_SCRIPT_COMMANDS: ReadonlySet<string> = new Set(['at', 'batch']);

/** The words between which a command takes the command line it runs. */
export interface CommandMarkers {
  readonly starts: readonly string[];
  readonly ends: readonly string[];
}

const FD_MARKERS: CommandMarkers = { starts: ['-x', '--exec', '-X', '--exec-batch'], ends: [';'] };

/** Commands with command lines among their arguments: find(1), fd(1). */
export const EMBEDDED_COMMANDS: ReadonlyMap<string, CommandMarkers> = new Map([
  ['find', { starts: ['-exec', '-execdir', '-ok', '-okdir'], ends: [';', '+'] }],
  ['fd', FD_MARKERS],
  ['fdfind', FD_MARKERS],
]);
