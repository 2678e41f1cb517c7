import { guardGit } from './guard-git';
import { MAX_SCRIPT_LENGTH } from './text-budget';

describe('guardGit', () => {
  it.each([
    ['git status\ncd x && git add .', 'git add'],
    ["cd /x; sh -c 'cd y; git commit -m z'", 'git commit'],
    ['cat x\nbash <<EOF\ncd y\n  git push\nEOF\n', 'git push'],
    ['echo $(cd x; git add .)', 'git add'],
    ["sudo -u bob su -c 'git add .'", 'git add'],
  ])('points at the git of %j', (script, found) => {
    const offset = script.indexOf(found);
    const before = script.slice(0, offset).split('\n');
    const position = { offset, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
    expect(guardGit(script).position).toEqual(position);
  });

  it('points at the text of a file that the script writes, wherever the file is run', () => {
    const script = "cat > run.sh <<'E'\ncd x\ngit add .\nE\nsh -c 'sh run.sh'";
    expect(guardGit(script).position).toEqual({ offset: script.indexOf('git add'), line: 3, column: 1 });
  });

  it('runs no file as a shell script whose first line names another interpreter', () => {
    const write = (first: string) => `printf '${first}\\ngit push\\n' > x; ./x`;
    expect(guardGit(write('#!/usr/bin/env python3')).write).toBe(false);
    expect(guardGit(write('#!/usr/bin/env -S bash -eu')).command).toBe('push');
    expect(guardGit(write('# a script')).command).toBe('push');
  });

  it('points at the word that carries text which does not stand in the script', () => {
    expect(guardGit('cmd="git \\"add\\""; eval "$cmd"').position).toEqual({ offset: 24, line: 1, column: 25 });
  });

  it.each(['if git add .', 'git add $(', "git add 'x", 'git add )', 'case x in'])(
    'does not block %j, which no shell can read, and says so',
    (script) => {
      expect(guardGit(script)).toMatchObject({
        write: false,
        parsed: false,
        reason: expect.stringContaining('syntax'),
      });
    },
  );

  it('reports a script inside the script that no shell can read', () => {
    expect(guardGit("git log; sh -c 'if git add'")).toMatchObject({ write: false, parsed: false });
    expect(guardGit("sh -c 'if git add'; git add .")).toMatchObject({ write: true, command: 'add', parsed: false });
  });

  it('does not examine a script above its limit', () => {
    const filler = '# filler\n';
    const script = 'git add .\n' + filler.repeat(Math.ceil(MAX_SCRIPT_LENGTH / filler.length));
    expect(guardGit(script)).toMatchObject({
      write: false,
      parsed: false,
      reason: expect.stringContaining('characters'),
    });
  });

  it('names an unknown subcommand as an alias', () => {
    expect(guardGit('git ship').reason).toBe(
      "`git ship` (line 1, column 1) is no command of git's own, so it is taken for an alias that writes to the repository.",
    );
  });
});
