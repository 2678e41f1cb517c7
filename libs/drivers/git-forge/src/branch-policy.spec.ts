import { publishedBranch } from './branch-policy';

describe('publishedBranch', () => {
  const session = { sessionId: 's-1', defaultBranch: 'main' };

  it('is a branch of its own for each session, or the one that was committed to', () => {
    expect(publishedBranch('session', session)).toBe('inquest/s-1');
    expect(publishedBranch('default', session)).toBe('main');
  });

  it('takes no session that is no id', () => {
    expect(() => publishedBranch('session', { ...session, sessionId: '../main' })).toThrow(
      expect.objectContaining({ code: 'ID_INVALID' }),
    );
  });
});
