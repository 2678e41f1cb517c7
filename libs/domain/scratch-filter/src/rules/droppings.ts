import type { ContentRule, DerivedFileRule, FileContent, FileNameRule, PathRule } from '../scratch-rule';

/** What programs, editors and operating systems drop beside the files. */
export const DROPPING_RULES: readonly FileNameRule[] = [
  {
    kind: 'file-name',
    id: 'dropping/log',
    why: 'A log of a program that ran.',
    where: 'outside-fixtures',
    patterns: [
      '*.log',
      '*.log.?',
      '*.log.??',
      '*.log.gz',
      'nohup.out',
      'nohup?.out',
      'error_log',
      'access_log',
      'strace.out',
      '*.strace',
    ],
    convention: 'tracked-sibling',
  },
  {
    kind: 'file-name',
    id: 'dropping/backup',
    why: 'An older version of a file that an editor, patch or merge left.',
    where: 'outside-fixtures',
    patterns: ['*.orig', '*.rej', '*.bak', '*.bak.*', '*.backup', '*~', '*.old', '*.save', '*.mine', '*.bk'],
    convention: 'tracked-sibling',
  },
  {
    kind: 'file-name',
    id: 'dropping/temporary',
    why: 'A temporary file of a program.',
    where: 'outside-fixtures',
    patterns: [
      '*.tmp',
      '*.temp',
      '*.swp',
      '*.swo',
      '*.swn',
      '.#*',
      '#*#',
      // LibreOffice and Microsoft Office, beside a document that is open.
      '.~*',
      '~$*',
      '*.pid',
      '*.part',
      '*.crdownload',
      '.nfs*',
      '.fuse_hidden*',
      '*.lck',
      '.hugo_build.lock',
      '.*.lock.info',
      // Hosts on which an Ansible playbook failed.
      '*.retry',
      // Pages that a failed browser test of Ruby saves.
      'capybara-*.html',
      // SQLite keeps these beside a database that is in use.
      ...['db', 'sqlite', 'sqlite3'].flatMap((kind) => ['journal', 'wal', 'shm'].map((part) => `*.${kind}-${part}`)),
    ],
    convention: 'tracked-sibling',
  },
  {
    kind: 'file-name',
    id: 'dropping/compiled',
    why: 'Compiled or cached by a tool, which makes it again.',
    where: 'outside-fixtures',
    patterns: [
      '*.pyc',
      '*.pyo',
      '*.pyd',
      '*.tsbuildinfo',
      '.eslintcache',
      '.stylelintcache',
      '.phpunit.result.cache',
      '.php-cs-fixer.cache',
      '.coverage',
      '.coverage.*',
      'coverage.xml',
      'lcov.info',
      'cover.out',
      'coverage.out',
      '*.coverprofile',
      '*.profraw',
      '*.profdata',
      'perf.data',
      'perf.data.old',
      'cpu.prof',
      'mem.prof',
      'gmon.out',
      '*.gcda',
      '*.gcno',
      '*.o',
      '*.class',
      // libtool and automake.
      '*.lo',
      '*.la',
      '*.trs',
      'config.status',
      'config.cache',
      '*.pprof',
      'trace.out',
      'flamegraph.svg',
      'coverage.html',
      '__debug_bin*',
      '*.nbconvert.ipynb',
      '*.apk',
      '*.aab',
      '*.ipa',
      '*.csproj.user',
      '*.vcxproj.user',
    ],
    convention: 'tracked-sibling',
  },
  {
    kind: 'file-name',
    id: 'dropping/operating-system',
    why: 'What an operating system keeps beside the files.',
    where: 'anywhere',
    patterns: ['.ds_store', '._*', 'thumbs.db', 'ehthumbs.db', 'desktop.ini', '.directory', '.localized'],
    convention: 'none',
  },
  {
    kind: 'file-name',
    id: 'dropping/history',
    why: 'State that an interactive program keeps for its user.',
    where: 'anywhere',
    patterns: [
      '.*_history',
      '.rhistory',
      '.rdata',
      '.octave_hist',
      '.lesshst',
      '.viminfo',
      '.netrwhist',
      '.zcompdump*',
      '.wget-hsts',
      '.xauthority',
      '.ice-authority',
      '.sudo_as_admin_successful',
      '.motd_shown',
    ],
    convention: 'none',
  },
  {
    kind: 'file-name',
    id: 'dropping/crash-dump',
    why: 'Memory of a program that crashed.',
    where: 'anywhere',
    // Linux names a dump `core` or `core.<pid>`.
    patterns: [
      'core',
      ...Array.from('123456789', (digit) => `core.${digit}*`),
      '*.core',
      'vgcore.*',
      '*.stackdump',
      '*.hprof',
      '*.dmp',
      '*.mdmp',
      'crash-*.dump',
      'erl_crash.dump',
    ],
    convention: 'tracked-sibling',
  },
];

/** Droppings that only their place tells. */
export const DROPPING_PATH_RULES: readonly PathRule[] = [
  {
    kind: 'path',
    id: 'directory/build-cache',
    why: 'A cache of a build tool, which makes it again.',
    patterns: [
      '**/.yarn/cache/',
      '**/.yarn/unplugged/',
      '**/.yarn/install-state.gz',
      '**/.bundle/cache/',
      '**/vendor/bundle/',
      '**/fuzz/artifacts/',
    ],
    convention: 'none',
  },
  {
    kind: 'path',
    id: 'dropping/database',
    why: 'A database of a developer; it is made again by the migrations.',
    patterns: ['**/db/*.sqlite3'],
    convention: 'tracked-sibling',
  },
  {
    kind: 'path',
    id: 'dropping/log',
    why: 'A log of a program that ran.',
    patterns: ['txt', 'out', 'err', 'json', 'jsonl'].map((extension) => `logs/**/*.${extension}`),
    convention: 'tracked-sibling',
  },
];

/** What LaTeX and its helpers write beside a document. */
export const DERIVED_FILE_RULES: readonly DerivedFileRule[] = [
  {
    kind: 'derived-file',
    id: 'dropping/typesetting',
    why: 'Written by LaTeX beside its document, and made again with it.',
    sources: ['.tex', '.ltx', '.dtx'],
    endings: [
      '.aux',
      '.bbl',
      '.bcf',
      '.blg',
      '.fdb_latexmk',
      '.fls',
      '.glg',
      '.glo',
      '.gls',
      '.idx',
      '.ilg',
      '.ind',
      '.ist',
      '.lof',
      '.lot',
      '.nav',
      '.out',
      '.run.xml',
      '.snm',
      '.synctex.gz',
      '.toc',
      '.vrb',
      '.xdv',
      '-blx.bib',
    ],
    convention: 'tracked-sibling',
  },
];

/** elf(5). */
const ELF_MAGIC = [0x7f, 0x45, 0x4c, 0x46] as const;
/** Values of `e_type`: ET_REL, ET_EXEC, ET_DYN, ET_CORE. */
const [ELF_OBJECT, ELF_PROGRAM, ELF_LIBRARY, ELF_CORE] = [1, 2, 3, 4] as const;

/** `e_type` is a 16-bit number at byte 16, in the byte order of the machine. */
function isElfOf(type: number, { bytes }: FileContent): boolean {
  const found = [bytes[16], bytes[17]];
  return ELF_MAGIC.every((byte, i) => bytes[i] === byte) && found.includes(0) && found.includes(type);
}

/** Droppings that their content tells, whatever their names. */
export const DROPPING_CONTENT_RULES: readonly ContentRule[] = [
  {
    kind: 'content',
    id: 'dropping/crash-dump',
    why: 'Memory of a program that crashed.',
    where: 'anywhere',
    matches: (content) => isElfOf(ELF_CORE, content),
  },
  {
    kind: 'content',
    id: 'dropping/compiled',
    why: 'Compiled or cached by a tool, which makes it again.',
    where: 'outside-fixtures',
    matches: (content) => [ELF_OBJECT, ELF_PROGRAM, ELF_LIBRARY].some((type) => isElfOf(type, content)),
  },
];
