import { guardGit } from './guard-git';
import { ALLOWED_SCRIPTS } from './testing';

describe('guardGit on scripts that do not write', () => {
  it.each(ALLOWED_SCRIPTS)('allows %j', (script) => {
    expect(guardGit(script)).toEqual({ write: false, command: null, position: null, reason: null, parsed: true });
  });
});
