import { explainRefusal } from './explain-refusal';
import { guardGit } from './guard-git';

function refusalOf(script: string): string {
  const verdict = guardGit(script);
  if (!verdict.write) throw new Error(`not refused: ${script}`);
  return explainRefusal(verdict);
}

describe('explainRefusal', () => {
  it('says what was refused, why, and which verb to use instead', () => {
    const text = refusalOf('cd /mnt/project\ngit add -A');
    expect(text).toContain('no part of the script was run');
    expect(text).toContain('`git add` (line 2, column 1)');
    expect(text).toContain('exit code 128');
    expect(text).toContain('dubious ownership');
    expect(text).toContain('`git_commit`');
  });

  it.each([
    ['git push', 'Publishing is done by the host'],
    ['git config --global --add safe.directory /x', 'No configuration is needed'],
    ['git checkout -- a.txt', '`git show HEAD:path/to/file > path/to/file`'],
    ['git clone https://example.org/x', 'download an archive'],
    ['git tag v1', 'made by the host'],
  ])('tells what to do instead of %s', (script, advice) => {
    expect(refusalOf(script)).toContain(advice);
  });
});
