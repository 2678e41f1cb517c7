import { descriptionOf } from '@inquest/contracts-base';
import { isVerbName, VERB_NAMES, VERBS } from './verbs';

describe('the verb table', () => {
  it('has the verbs of a session, each known by its name and by no other', () => {
    expect(VERB_NAMES).toEqual([
      'plan',
      'run',
      'read_file',
      'write_file',
      'list_files',
      'screenshot',
      'check_internet',
      'git_commit',
      'ask',
      'done',
    ]);
    for (const name of VERB_NAMES) expect(isVerbName(name)).toBe(true);
    for (const name of ['', 'Run', 'toString', '__proto__', 'constructor']) expect(isVerbName(name)).toBe(false);
  });

  it.each(VERB_NAMES)('describes %s and each of its arguments to a model', (name) => {
    const { description, arguments: Class } = VERBS[name];
    expect(description).toMatch(/^[A-Z].*\.$/s);
    for (const property of Object.keys(new Class())) expect(descriptionOf(Class, property)).toMatch(/^[A-Z].*\.$/s);
  });

  it('wants a plan before whatever changes the machine, and before nothing else', () => {
    const changing = VERB_NAMES.filter((name) => VERBS[name].changesMachine);
    expect(changing).toEqual(['run', 'write_file', 'git_commit']);
  });
});
