import { truncate, writeFile } from 'node:fs/promises';
import { startGiteaFixture, type GiteaFixture } from './testing/gitea-fixture';

jest.setTimeout(60_000);

const never = new AbortController().signal;
const PROJECT = 'demo';

describe('a release of GiteaForge', () => {
  let made: GiteaFixture;
  beforeEach(async () => {
    made = await startGiteaFixture();
    await made.forge.ensureRepository(PROJECT, never);
    const { repositoryPath, commits } = made;
    await made.forge.push({ repositoryPath, project: PROJECT, branch: 'main', commit: commits.first }, never);
  });
  afterEach(() => made.close());

  const artifacts = async () => [await made.artifact('a.tar', 'aaaa'), await made.artifact('b.tar', 'bb')];
  const release = async () =>
    made.forge.publishRelease(
      {
        project: PROJECT,
        tag: 'v1',
        commit: made.commits.first,
        title: 'One',
        notes: '',
        artifacts: await artifacts(),
      },
      never,
    );
  const whole = [{ tag: 'v1', artifacts: ['a.tar 4', 'b.tar 2'] }];

  it('is not seen before it is whole, and is completed by the next try', async () => {
    made.double.faults.push({ request: /assets$/, reply: { status: 500 } });
    await expect(release()).rejects.toMatchObject({ code: 'FORGE_UNAVAILABLE' });
    expect(await made.releases(PROJECT)).toEqual([]);
    await release();
    expect(await made.releases(PROJECT)).toEqual(whole);
    expect(made.double.repositories.get('robot', PROJECT)?.releases).toHaveLength(1);
  });

  it.each([/^POST .*\/releases$/, /^PATCH .*\/releases\/\d+$/])(
    'is made once when the answer to %s is lost',
    async (request) => {
      made.double.faults.push({ request, reply: 'lose-answer' });
      await release();
      expect(await made.releases(PROJECT)).toEqual(whole);
    },
  );

  it('offers an artifact once when the answer to its upload was lost', async () => {
    made.double.faults.push({ request: /assets$/, reply: 'lose-answer' });
    await expect(release()).rejects.toMatchObject({ code: 'FORGE_UNAVAILABLE' });
    await release();
    expect(await made.releases(PROJECT)).toEqual(whole);
  });

  it('replaces what has the name of an artifact and not its size', async () => {
    made.double.faults.push({ request: /^PATCH/, times: 9, reply: { status: 503 } });
    await expect(release()).rejects.toMatchObject({ code: 'FORGE_UNAVAILABLE' });
    made.double.faults.length = 0;
    const [draft] = made.double.repositories.get('robot', PROJECT)?.releases ?? [];
    Object.assign(draft?.assets?.[0] ?? {}, { size: 1 });
    await release();
    expect((await made.releases(PROJECT))[0]?.artifacts.toSorted()).toEqual(whole[0]?.artifacts);
  });

  it.each([
    ['is gone', { filePath: '/nowhere/a.tar', sizeBytes: 4 }],
    ['is a directory', { filePath: '/tmp', sizeBytes: 4 }],
    ['has another size', { filePath: '/proc/self/cmdline', sizeBytes: 4 }],
  ])('is not published when the file of an artifact %s', async (_, file) => {
    const asked = made.forge.publishRelease(
      {
        project: PROJECT,
        tag: 'v1',
        commit: made.commits.first,
        title: 'One',
        notes: '',
        artifacts: [{ name: 'a', ...file }],
      },
      never,
    );
    await expect(asked).rejects.toMatchObject({ code: 'FORGE_ARTIFACT_UNREADABLE' });
    expect(await made.releases(PROJECT)).toEqual([]);
  });

  it('streams an artifact that does not fit into an answer', async () => {
    const big = await made.artifact('big.bin', '');
    await truncate(big.filePath, 20_000_000);
    const request = { project: PROJECT, tag: 'v2', commit: made.commits.first, title: 'Two', notes: '' };
    await made.forge.publishRelease({ ...request, artifacts: [{ ...big, sizeBytes: 20_000_000 }] }, never);
    expect(await made.releases(PROJECT)).toEqual([{ tag: 'v2', artifacts: ['big.bin 20000000'] }]);
  });

  it('leaves alone the draft of somebody else for the same tag', async () => {
    made.double.repositories.get('robot', PROJECT)?.releases.push({
      id: 99,
      tag_name: 'v1',
      target_commitish: 'main',
      draft: true,
      assets: [],
    });
    await expect(release()).rejects.toMatchObject({ code: 'FORGE_TAG_TAKEN' });
    expect(await made.releases(PROJECT)).toEqual([]);
  });

  it('does not follow a file that changed after it was announced', async () => {
    const [first, second] = await artifacts();
    await writeFile(first?.filePath ?? '', 'a longer content');
    const request = { project: PROJECT, tag: 'v1', commit: made.commits.first, title: 'One', notes: '' };
    const asked = made.forge.publishRelease({ ...request, artifacts: [first, second].flatMap((a) => a ?? []) }, never);
    await expect(asked).rejects.toMatchObject({ code: 'FORGE_ARTIFACT_UNREADABLE' });
  });
});
