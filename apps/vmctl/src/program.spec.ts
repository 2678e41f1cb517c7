import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { buildProgram, leafCommands } from './program';
import { CapturedOutput } from './testing/captured-output';

const REPOSITORY = path.resolve(__dirname, '../../..');

/** `image freeze`, without the program's own name. */
function pathOf(command: CommandUnknownOpts): string {
  const names: string[] = [];
  for (let at: CommandUnknownOpts | null = command; at?.parent; at = at.parent) names.unshift(at.name());
  return names.join(' ');
}

describe('the command line', () => {
  const stdout = new CapturedOutput();
  const stderr = new CapturedOutput();
  const program = buildProgram({ stdout, stderr }, () => {
    throw new Error('no command runs here');
  });
  const commands = leafCommands(program);
  const paths = commands.map(pathOf);

  it('has every command of the platform', () => {
    const nouns = ['image ls', 'image show', 'image build', 'image freeze', 'image verify', 'agent run', 'publish ls'];
    const host = ['up', 'down', 'status', 'doctor'];
    const machines = [
      'new',
      'run',
      'shell',
      'tail',
      'cp',
      'reset',
      'rm',
      'ls',
      'show',
      'verdict',
      'shot',
      'screen click',
    ];
    const sessions = ['open', 'ready', 'plan', 'verb', 'close', 'logs', 'log'];
    const others = [
      'publish show',
      'publish retry',
      'explain git',
      'explain scratch',
      'explain console',
      'demo session',
      'agent watch',
      'agent confirmations',
      'agent answer',
    ];
    expect(paths).toEqual(expect.arrayContaining([...nouns, ...host, ...machines, ...sessions, ...others]));
  });

  it('lists each of them in the help of its group', () => {
    for (const command of commands) expect(command.parent?.helpInformation()).toContain(`\n  ${command.name()}`);
  });

  it.each(commands.map((command) => [pathOf(command), command] as const))(
    '%s says what it does and takes --json',
    (_, command) => {
      expect(command.description()).toMatch(/\w/);
      expect(command.options.map(({ long }) => long)).toContain('--json');
      for (const { name, description } of command.registeredArguments.map((a) => ({
        name: a.name(),
        description: a.description,
      }))) {
        expect({ name, description }).toEqual({ name, description: expect.stringMatching(/\w/) });
      }
    },
  );

  it('knows every command that the documents and the texts of the errors name', () => {
    const groups = new Set(
      program.commands.filter(({ commands: children }) => children.length > 0).map((group) => group.name()),
    );
    const unknown = namedCommands().filter(({ noun, verb }) => {
      if (groups.has(noun)) return verb !== null && !paths.includes(`${noun} ${verb}`);
      return !paths.includes(noun);
    });
    expect(unknown).toEqual([]);
  });
});

/** Every `vmctl ...` in backticks or at the start of a line of the documents, with the file that has it. */
function namedCommands(): readonly { readonly file: string; readonly noun: string; readonly verb: string | null }[] {
  const documents = readdirSync(path.join(REPOSITORY, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join('docs', name));
  const files = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...documents];
  return files.flatMap((file) => {
    const text = readIfPresent(path.join(REPOSITORY, file));
    const found = text.matchAll(/(?:`|^|\n)(?:\$ )?(?:npm run )?vmctl (?:-- )?([a-z]+)(?: ([a-z]+)\b)?/g);
    return [...found].map(([, noun = '', verb = null]) => ({ file, noun, verb }));
  });
}

const readIfPresent = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};
