import { ConfirmationPolicy } from '@inquest/contracts-agent';
import { parseDto } from '@inquest/config';
import { needsPerson } from './confirmation-policy';

const policy = (more: object): ConfirmationPolicy => parseDto(ConfirmationPolicy, more);
const commands = (...phrases: string[]) => [policy({ commands: phrases })];

describe('needsPerson', () => {
  it('asks about nothing where nothing was marked', () => {
    expect(needsPerson([], 'run', { command: 'rm -rf /' })).toBe(false);
    expect(needsPerson([policy({})], 'run', { command: 'rm -rf /' })).toBe(false);
  });

  it('asks about every call of a marked verb, whichever policy marks it', () => {
    const policies = [policy({ commands: ['x'] }), policy({ verbs: ['git_commit', 'done'] })];
    expect(needsPerson(policies, 'git_commit', { message: 'm' })).toBe(true);
    expect(needsPerson(policies, 'write_file', { path: '/x', content: '' })).toBe(false);
  });

  it.each([
    'rm -rf /',
    '  rm   -rf build',
    'cd /mnt/project && rm -rf build',
    'sudo rm -rf x; ls',
    'find . | (rm -rf y)',
    `sh -c 'rm -rf z'`,
    'echo $(rm -rf w)',
    '/bin/rm -rf v',
    `r\\m "-rf" u`,
    'rm \\\n-rf t',
    'echo done\nrm -rf s',
  ])('finds the words of a command in %j', (command) => {
    expect(needsPerson(commands('npm publish', 'rm -rf'), 'run', { command })).toBe(true);
  });

  it.each(['rm -r build', 'rm x -rf', 'farm -rf', 'rm-rf', 'ls rm', ''])('does not find them in %j', (command) => {
    expect(needsPerson(commands('npm publish', 'rm -rf'), 'run', { command })).toBe(false);
  });

  it('looks at nothing but the command of a call', () => {
    expect(needsPerson(commands('rm -rf'), 'plan', { plan: 'rm -rf build' })).toBe(false);
  });
});

describe('a confirmation policy', () => {
  it.each([
    { verbs: ['ask'] },
    { verbs: ['reboot_world'] },
    { verbs: ['run', 'run'] },
    { commands: [''] },
    { commands: ['rm  -rf'] },
    { commands: ['rm -rf; ls'] },
    { commands: ['x'.repeat(201)] },
    { commands: Array.from({ length: 33 }, (_, index) => `c${index}`) },
    { patterns: ['.*'] },
  ])('refuses %j', (more) => {
    expect(() => policy(more)).toThrow(expect.objectContaining({ code: 'INPUT_INVALID' }));
  });
});
