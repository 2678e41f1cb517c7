import type { FileNameRule } from '../scratch-rule';

const SCRIPT_EXTENSIONS = [
  'py',
  'sh',
  'bash',
  'js',
  'mjs',
  'cjs',
  'ts',
  'mts',
  'rb',
  'pl',
  'php',
  'lua',
  'r',
  'ps1',
  'bat',
  'html',
  'ipynb',
  'exs',
  'jl',
  'sql',
];

// A test of a compiled language is often a file of the root; only names that say nothing are throw-away there.
const COMPILED_EXTENSIONS = ['c', 'cpp', 'go', 'rs', 'java', 'kt', 'swift', 'cs', 'tex', 'gd', 'tf', 'yml', 'yaml'];

// Cargo builds nothing at the root but build.rs.
const RUST_EXTENSION = 'rs';

const THROWAWAY_PREFIXES = [
  'test',
  'check',
  'debug',
  'verify',
  'try',
  'tmp',
  'temp',
  'scratch',
  'repro',
  'reproduce',
  'quick',
  'probe',
  'experiment',
  'sanity',
  'smoke',
  'validate',
  'poc',
  'simple_test',
  'manual_test',
  'curl',
];

const THROWAWAY_NAMES = [
  'test',
  'debug',
  'check',
  'scratch',
  'tmp',
  'temp',
  'foo',
  'repro',
  'try',
  'playground',
  'simple_test',
  'quick_test',
  'manual_test',
];

// What says after the name of something else that the file is for now only.
const THROWAWAY_SUFFIXES = ['scratch', 'tmp', 'temp', 'repro'];

const withExtensions = (stems: readonly string[]): readonly string[] =>
  stems.flatMap((stem) => SCRIPT_EXTENSIONS.map((extension) => `${stem}.${extension}`));

/** Notebooks that nobody gave a name. */
export const UNNAMED_RULES: readonly FileNameRule[] = [
  {
    kind: 'file-name',
    id: 'throwaway/unnamed',
    why: 'A notebook that still has the name it was made with.',
    where: 'anywhere',
    patterns: ['untitled*.ipynb'],
    convention: 'tracked-sibling',
  },
];

/** Scripts and captured output that an agent leaves where it worked. */
export const THROWAWAY_RULES: readonly FileNameRule[] = [
  {
    kind: 'file-name',
    id: 'throwaway/script',
    why: 'A throw-away script at the root of a project that keeps no such scripts there.',
    where: 'project-root',
    patterns: [
      ...withExtensions([
        ...THROWAWAY_PREFIXES.flatMap((prefix) => [`${prefix}_*`, `${prefix}-*`]),
        ...THROWAWAY_NAMES,
        ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => `test${number}`),
      ]),
      ...THROWAWAY_PREFIXES.map((prefix) => `${prefix}_*.${RUST_EXTENSION}`),
      ...THROWAWAY_NAMES.flatMap((name) => COMPILED_EXTENSIONS.map((extension) => `${name}.${extension}`)),
      ...THROWAWAY_SUFFIXES.flatMap((suffix) =>
        [...SCRIPT_EXTENSIONS, ...COMPILED_EXTENSIONS].flatMap((extension) => [
          `*_${suffix}.${extension}`,
          `*-${suffix}.${extension}`,
        ]),
      ),
    ],
    // What test frameworks load by name.
    exceptions: withExtensions(
      ['util', 'utils', 'helper', 'helpers', 'setup', 'config', 'support', 'runner'].flatMap((part) => [
        `test_${part}`,
        `test-${part}`,
      ]),
    ),
    convention: 'tracked-sibling',
  },
  {
    kind: 'file-name',
    id: 'throwaway/output',
    why: 'Output of a command that was captured while working.',
    where: 'project-root',
    patterns: [
      'output.txt',
      'out.txt',
      'stdout.txt',
      'stderr.txt',
      'err.txt',
      'error.txt',
      'errors.txt',
      'log.txt',
      '*_output.txt',
      '*-output.txt',
      '*_log.txt',
      'debug.txt',
      'tmp.*',
      'temp.*',
      'test_results.json',
      'test-results.json',
      'test-results.xml',
      'results.tmp',
      ...['log', 'json', 'yaml', 'yml', 'csv', 'xml', 'html'].map((extension) => `*.${extension}.txt`),
      ...['json', 'bin', 'html', 'csv'].map((extension) => `out.${extension}`),
      '*_output.json',
      '*-output.json',
      'logcat*.txt',
      'plan.out',
      'tfplan',
      '*.tfplan',
      'a.out',
      'typescript',
      '*.ppm',
    ],
    convention: 'tracked-sibling',
  },
  {
    kind: 'file-name',
    id: 'throwaway/screenshot',
    why: 'A screenshot taken while working.',
    where: 'project-root',
    patterns: ['png', 'jpg', 'jpeg', 'webp'].flatMap((extension) => [
      `screenshot*.${extension}`,
      `screen-*.${extension}`,
      `screen_*.${extension}`,
      `shot-*.${extension}`,
      `*_screenshot.${extension}`,
      `*-screenshot.${extension}`,
    ]),
    convention: 'tracked-sibling',
  },
];
