import { guardGit } from './guard-git';
import { REFUSED_SCRIPTS } from './testing';

describe('guardGit on scripts that write', () => {
  it.each(REFUSED_SCRIPTS)('refuses %j for git %s', (script, command) => {
    expect(guardGit(script)).toMatchObject({ write: true, command, parsed: true });
  });
});
