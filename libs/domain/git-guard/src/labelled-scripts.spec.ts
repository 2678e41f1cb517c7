import { ALLOWED_SCRIPTS, REFUSED_SCRIPTS } from './testing';

const SUBCOMMANDS =
  'add commit push config reset checkout switch restore merge rebase cherry-pick revert am apply stash tag branch rm mv clean init clone fetch pull gc update-ref worktree submodule notes filter-branch lfs';
const READS = 'log status diff show blame grep rev-parse ls-files cat-file describe shortlog';

describe('the labelled scripts', () => {
  it('are more than three hundred, and each is there once', () => {
    const scripts = [...REFUSED_SCRIPTS.map(([script]) => script), ...ALLOWED_SCRIPTS];
    expect(scripts.length).toBeGreaterThanOrEqual(300);
    expect(new Set(scripts).size).toBe(scripts.length);
  });

  it.each(SUBCOMMANDS.split(' '))('have a writing form of git %s', (subcommand) => {
    expect(REFUSED_SCRIPTS.filter(([, command]) => command === subcommand)).not.toEqual([]);
  });

  it.each(READS.split(' '))('have an allowed git %s', (subcommand) => {
    expect(ALLOWED_SCRIPTS.filter((script) => script.startsWith(`git ${subcommand}`))).not.toEqual([]);
  });

  it.each([
    ['&&', /&& git/],
    ['||', /\|\| git/],
    ['a semicolon', /; git/],
    ['a pipe', /\| git/],
    ['the background', /git .* &$/],
    ['a newline', /\ngit/],
    ['a subshell', /\(.*git/],
    ['a group', /\{ git/],
    ['$( )', /\$\(git/],
    ['backticks', /`git/],
    ['an absolute path', /^\/usr\/bin\/git/],
    ['-C', /git -C/],
    ['-c', /git -c/],
    ['--git-dir', /--git-dir/],
    ['sudo', /^sudo/],
    ['env', /^env/],
    ['command', /^command/],
    ['nohup', /^nohup/],
    ['time', /^time/],
    ['exec', /^exec/],
    ['xargs', /xargs/],
    ['timeout', /^timeout/],
    ['nice', /^nice/],
    ['an assignment', /^GIT_DIR=/],
    ['sh -c', /sh -c/],
    ['bash -lc', /bash -lc/],
    ['eval', /^eval/],
    ['a heredoc fed to a shell', /bash <</],
    ['a function', /\(\) \{/],
    ['a loop', /; do /],
  ])('have a write behind %s', (_, construct) => {
    expect(REFUSED_SCRIPTS.filter(([script]) => construct.test(script))).not.toEqual([]);
  });
});
