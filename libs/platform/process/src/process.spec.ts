import { describeCommand } from './command-end';
import { baseEnvironment } from './environment';
import { parseProcStat } from './process-identity';

const stat = (comm: string): string => `4711 (${comm}) S 1 4700 4700 0 -1 4194560 ${'0 '.repeat(12)}987654 1000 2`;

describe('parseProcStat', () => {
  it.each(['node', 'tmux: server', ') R 1 2 3', '((', 'a\nb'])('is not confused by a process named %j', (comm) => {
    expect(parseProcStat(stat(comm))).toEqual({ state: 'S', processGroup: 4700, startTicks: 987654 });
  });

  it.each(['', '1 (x', '1 (x) S 2'])('gives null for %j', (text) => {
    expect(parseProcStat(text)).toBeNull();
  });
});

describe('baseEnvironment', () => {
  it('hands down where programs are, and no secret', () => {
    const source = {
      PATH: '/bin',
      LANG: 'C.UTF-8',
      INQUEST_URL_SIGNING_KEY: 'canary',
      GIT_DIR: '/x',
      LD_PRELOAD: '/y',
    };
    expect(baseEnvironment(source)).toEqual({ PATH: '/bin', LANG: 'C.UTF-8' });
  });

  it('finds programs in sbin when PATH is empty', () => {
    expect(baseEnvironment({ PATH: '' })['PATH']).toContain('/usr/sbin');
  });
});

describe('describeCommand', () => {
  it('is one bounded line', () => {
    const shown = describeCommand('git', ['commit', '-m', `two\nlines ${'x'.repeat(1000)}`]);
    expect(shown).toMatch(/^git commit -m two lines x+\.\.\.$/);
    expect(shown.length).toBeLessThan(210);
  });
});
