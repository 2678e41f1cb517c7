import 'reflect-metadata';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { collectErrors } from '../docs/error-tables.mjs';
import { workspaceRoot } from '../workspace/projects.mjs';

const inRepository = (...parts: readonly string[]): string => path.join(workspaceRoot, ...parts);

const documentsIn = (directory: string): string[] =>
  readdirSync(inRepository(directory), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join(directory, name));

const documents = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...documentsIn('docs'), ...documentsIn('docker')]
  .filter((file) => existsSync(inRepository(file)))
  .map((file) => [file, readFileSync(inRepository(file), 'utf8')] as const);

const load = (root: string): Record<string, unknown> => jest.requireActual(inRepository(root, 'src'));
const codes = new Set(collectErrors(load).map(({ code }) => code));
/** First words of codes: what begins with one and is written like a code is meant as one. */
const scopes = new Set([...codes].map((code) => code.split('_')[0] ?? ''));

/** Every command of vmctl as its words: `image ls`. */
function commandsOf(command: CommandUnknownOpts, words: readonly string[] = []): string[] {
  const own = words.length === 0 ? [] : [words.join(' ')];
  return [...own, ...command.commands.flatMap((child) => commandsOf(child, [...words, child.name()]))];
}
const { buildProgram } = jest.requireActual<{ buildProgram: (contextFor: () => never) => CommandUnknownOpts }>(
  inRepository('apps/vmctl/src/program'),
);
const commands = commandsOf(
  buildProgram(() => {
    throw new Error('no command is run here');
  }),
);
const groups = new Set(commands.filter((words) => words.includes(' ')).map((words) => words.split(' ')[0]));

const { scripts } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, found]) => found ?? '');

describe.each(documents)('%s', (file, text) => {
  it('links only to files that exist', () => {
    const targets = matches(text, /\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g);
    expect(targets.filter((target) => !existsSync(path.resolve(path.dirname(inRepository(file)), target)))).toEqual([]);
  });

  it('names only scripts of package.json', () => {
    expect(matches(text, /npm run ([a-z:]+)/g).filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  it('names only commands that vmctl has', () => {
    const blocks = (text.match(/^```[\s\S]*?^```/gm) ?? []).join('\n');
    const inText = matches(text, /`vmctl ([a-z]+(?: [a-z]+)?)/g);
    const named = [...inText, ...matches(blocks, /^\$? ?vmctl ([a-z]+(?: [a-z]+)?)/gm)].map((words) => {
      const [first = '', second] = words.split(' ');
      return groups.has(first) && second !== undefined ? words : first;
    });
    expect(named.filter((words) => !commands.includes(words))).toEqual([]);
  });

  it('names only error codes that a table has', () => {
    const named = matches(text, /`([A-Z]+(?:_[A-Z0-9]+)+)`/g).filter((code) => scopes.has(code.split('_')[0] ?? ''));
    expect(named.filter((code) => !codes.has(code))).toEqual([]);
  });
});

describe('the documents', () => {
  it('were found, and so was what they are compared with', () => {
    expect(documents.map(([file]) => file)).toEqual(
      expect.arrayContaining(['CONTRIBUTING.md', 'docs/ARCHITECTURE.md']),
    );
    expect(commands).toEqual(expect.arrayContaining(['up', 'image freeze']));
    expect(codes.size).toBeGreaterThan(50);
  });
});
