import { ProjectFixture } from './testing/project-fixture';

describe('two sessions on one project', () => {
  let project: ProjectFixture;
  beforeEach(async () => {
    project = await ProjectFixture.make();
  });
  afterEach(() => project.close());

  it('lets each commit what it changed and keeps what the other did', async () => {
    const start = await project.commit([
      { name: 'a', content: '1' },
      { name: 'b', content: '1' },
    ]);
    const mine = await project.commit(
      [
        { name: 'a', content: '2' },
        { name: 'b', content: '1' },
      ],
      { base: start.commit },
    );
    const theirs = await project.commit(
      [
        { name: 'a', content: '1' },
        { name: 'c', content: 'new' },
      ],
      { base: start.commit },
    );
    expect(theirs).toMatchObject({ kept: ['c'], deleted: ['b'] });
    expect(project.git('show', 'HEAD:a')).toBe('2');
    expect(project.paths()).toEqual(['a', 'c']);
    expect(project.git('rev-parse', 'HEAD~1')).toBe(mine.commit);
    const later = await project.commit(
      [
        { name: 'a', content: '1' },
        { name: 'c', content: 'newer' },
      ],
      { base: theirs.base },
    );
    expect(later).toMatchObject({ kept: ['c'], deleted: [] });
    expect(project.git('show', 'HEAD:a')).toBe('2');
  });

  it.each([
    ['the same file', [{ name: 'a', content: '3' }]],
    [
      'a file that the other needs as a directory',
      [
        { name: 'a', content: '1' },
        { name: 'new', content: 'file' },
      ],
    ],
    ['a deletion of what the other changed', []],
  ])('refuses %s and moves nothing', async (_, entries) => {
    const start = await project.commit([{ name: 'a', content: '1' }]);
    const other = await project.commit(
      [
        { name: 'a', content: '2' },
        { name: 'new/x', content: 'directory' },
      ],
      { base: start.commit },
    );
    await expect(project.commit(entries, { base: start.commit })).rejects.toMatchObject({ code: 'COMMIT_CONFLICT' });
    expect((await project.repository.head()).commit).toBe(other.commit);
  });

  it('lands every one of several commits at once', async () => {
    const start = await project.commit([{ name: 'a', content: '1' }]);
    const sessions = [1, 2, 3, 4].map((n) =>
      project.commit(
        [
          { name: 'a', content: '1' },
          { name: `s${n}`, content: 'x' },
        ],
        { base: start.commit },
      ),
    );
    expect((await Promise.all(sessions)).map(({ kept }) => kept)).toEqual([['s1'], ['s2'], ['s3'], ['s4']]);
    expect(project.paths()).toEqual(['a', 's1', 's2', 's3', 's4']);
    expect(project.git('rev-list', '--count', 'HEAD')).toBe('5');
  });
});
