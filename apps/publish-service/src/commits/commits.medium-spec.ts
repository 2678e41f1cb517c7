import { publishOps } from '@inquest/contracts-publish';
import { eventually } from '@inquest/testing';
import { PublishHarness, type StagedGuest } from '../testing/publish-harness';

const KEY =
  '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\n-----END OPENSSH PRIVATE KEY-----\n';

describe('projects and commits', () => {
  let harness: PublishHarness;
  beforeAll(async () => {
    harness = await PublishHarness.start();
  }, 120_000);
  afterAll(() => harness.stop(), 60_000);
  afterEach(() => {
    harness.vm.streams.fault = null;
  });

  const head = ({ project }: StagedGuest): Promise<string | null> =>
    harness.call(publishOps.showProject, { project }).then((view) => view.head);

  it('makes a project once, however often and at once it is asked', async () => {
    const project = 'prj-once';
    const made = await Promise.all([1, 2, 3].map(() => harness.call(publishOps.ensureProject, { project })));
    expect(new Set(made.map(({ createdAtMs }) => createdAtMs)).size).toBe(1);
    expect(made[0]).toMatchObject({ project, head: null, defaultBranch: 'main' });
    expect(await harness.call(publishOps.showProject, { project })).toEqual(made[0]);
  });

  it.each([
    ['prj-none', 'PROJECT_UNKNOWN'],
    ['../evil', 'INPUT_INVALID'],
    ['a/b', 'INPUT_INVALID'],
    ['', 'INPUT_INVALID'],
  ])('does not show %j', async (project, code) => {
    await expect(harness.call(publishOps.showProject, { project })).rejects.toMatchObject({ code });
  });

  it('commits what the guest changed, by the person it is for, and gives the next guest these files', async () => {
    const guest = await harness.stage();
    expect(harness.filesOf(guest)).toEqual([]);
    harness.write(guest, { 'README.md': 'hello\n', 'src/app.py': 'print("hi")\n' });
    guest.machine.files.write('/mnt/project/tool', '#!/bin/sh\n', 0o755);
    guest.machine.files.link('/mnt/project/link', 'README.md');
    const view = await harness.commit(guest, { message: 'first\n\nbecause' });
    expect(view).toMatchObject({ branch: 'main', keptCount: 4, heldCount: 0, refusedCount: 0, warnings: [] });
    expect([...view.kept].sort()).toEqual(['README.md', 'link', 'src/app.py', 'tool']);
    expect(await head(guest)).toBe(view.commit);
    const { project } = guest;
    expect(harness.git(project, 'log', '-1', '--format=%an|%ae|%cn|%B')).toBe(
      'Ana|ana@example.org|Inquest|first\n\nbecause',
    );
    expect(harness.git(project, 'ls-tree', 'HEAD', 'tool', 'link')).toMatch(/^120000 .*\tlink\n100755 .*\ttool$/);
    const next = await harness.stage(project);
    expect(harness.filesOf(next)).toEqual(['README.md', 'link', 'src/app.py', 'tool']);
    harness.remove(next, 'src/app.py');
    expect(await harness.commit(next)).toMatchObject({ kept: ['src/app.py'], keptCount: 1 });
    expect(harness.paths(project)).toEqual(['README.md', 'link', 'tool']);
  });

  it('makes no commit when nothing changed', async () => {
    const guest = await harness.stageWith({ a: '1' });
    const first = await harness.commit(guest);
    expect(await harness.commit(guest)).toMatchObject({ commit: null, kept: [], keptCount: 0 });
    expect(await head(guest)).toBe(first.commit);
  });

  it('holds scratch back and says by which rule, unless the commit names it', async () => {
    const guest = await harness.stageWith({
      'app.py': 'x',
      'nohup.out': 'noise',
      'debug.log': 'noise',
      '.env': 'TOKEN=x',
    });
    const view = await harness.commit(guest, { forceInclude: ['debug.log'] });
    expect([...view.kept].sort()).toEqual(['app.py', 'debug.log']);
    expect(view.held.map(({ path }) => path)).toEqual(['.env', 'nohup.out']);
    for (const { rule, why } of view.held) {
      expect(rule).toMatch(/^[a-z-]+\/[a-z-]+$/);
      expect(why).not.toBe('');
    }
    expect(harness.paths(guest.project)).toEqual(['app.py', 'debug.log']);
  });

  it('looks for secrets in the first 64 KiB of a file', async () => {
    const guest = await harness.stageWith({ 'fine.txt': 'x', 'settings.txt': `${'# comment\n'.repeat(4_000)}${KEY}` });
    const view = await harness.commit(guest);
    expect(view.kept).toEqual(['fine.txt']);
    expect(view.held).toMatchObject([{ path: 'settings.txt', rule: expect.stringMatching(/^secret\//) }]);
  });

  it('goes by the rules of the last commit, not by those in the tree of the guest', async () => {
    const rules = 'keep:\n  - "*.log"\nhold:\n  - "*.tmp.txt"\n';
    const guest = await harness.stageWith({ 'a.log': 'x', 'b.tmp.txt': 'x', '.inquest/scratch.yaml': rules });
    const before = await harness.commit(guest);
    expect([...before.kept].sort()).toEqual(['.inquest/scratch.yaml', 'b.tmp.txt']);
    harness.write(guest, { 'c.log': 'x', 'd.tmp.txt': 'x' });
    const after = await harness.commit(guest);
    expect([...after.kept].sort()).toEqual(['a.log', 'c.log']);
    expect(after.held).toMatchObject([{ path: 'd.tmp.txt', rule: 'project/hold' }]);
  });

  it.each([
    ['no YAML', 'keep: ["a'],
    ['aliases', 'keep: &a ["x"]\nhold: *a\n'],
    ['another shape', 'keep: 7\nburn: all\n'],
    ['a pit', '['.repeat(60_000)],
    ['too many bytes', `# ${'x'.repeat(65_536)}\n`, 'SCRATCH_RULES_TOO_LARGE'],
  ])(
    'leaves rules out that are %s, says so, and takes the commit that mends them',
    async (_, text, code = 'SCRATCH_RULES_INVALID') => {
      const guest = await harness.stageWith({ '.inquest/scratch.yaml': text });
      await harness.commit(guest);
      harness.write(guest, { '.inquest/scratch.yaml': 'keep: []\n', 'x.log': 'x' });
      const mended = await harness.commit(guest);
      expect(mended).toMatchObject({ kept: ['.inquest/scratch.yaml'], held: [{ path: 'x.log' }] });
      expect(mended.warnings).toEqual([expect.stringContaining('scratch rules were left out: .inquest/scratch.yaml ')]);
      expect(mended.rulesProblem).toMatchObject({ code, message: expect.stringContaining('.inquest/scratch.yaml') });
      expect(await harness.publish(guest)).toMatchObject({ state: 'published', rulesProblem: mended.rulesProblem });
      harness.write(guest, { y: 'y' });
      expect(await harness.commit(guest)).toMatchObject({ warnings: [], rulesProblem: null });
      expect(await harness.publish(guest)).toMatchObject({ state: 'published', rulesProblem: null });
    },
  );

  it('leaves rules out that are a link, and says so', async () => {
    const guest = await harness.stageWith({ a: 'x' });
    guest.machine.files.link('/mnt/project/.inquest/scratch.yaml', 'a');
    await harness.commit(guest);
    harness.write(guest, { b: 'x', 'x.log': 'x' });
    expect(await harness.commit(guest)).toMatchObject({
      kept: ['b'],
      held: [{ path: 'x.log' }],
      rulesProblem: { code: 'SCRATCH_RULES_INVALID', message: expect.stringContaining('no regular file') },
    });
  });

  it('holds back a file that is too large and takes the rest', async () => {
    const guest = await harness.stageWith({ small: 'x', large: 'x'.repeat(200_001) });
    const view = await harness.commit(guest);
    expect(view).toMatchObject({ kept: ['small'], held: [{ path: 'large', rule: 'large-file' }] });
  });

  it('refuses the hostile pieces of a tree, names them, and takes the rest', async () => {
    const guest = await harness.stageWith({ good: 'x' });
    guest.machine.files.link('/mnt/project/escape', '/etc');
    guest.machine.files.hostile.push(
      { name: '.git/config', content: '[core]\n' },
      { name: 'sub/.GIT/hooks/post-commit', content: '#!/bin/sh\n' },
      { name: 'git~1/config', content: 'x' },
      { name: '../outside', content: 'x' },
      { name: 'escape/passwd', content: 'x' },
      { name: 'disk', type: 'block-device' },
      { name: 'pipe', type: 'fifo' },
    );
    const view = await harness.commit(guest);
    expect([...view.kept].sort()).toEqual(['escape', 'good']);
    expect(view.refused.map(({ path }) => path).sort()).toEqual([
      '../outside',
      '.git/config',
      'disk',
      'escape/passwd',
      'git~1/config',
      'pipe',
      'sub/.GIT/hooks/post-commit',
    ]);
    expect(view.refused.every(({ rule, why }) => rule.startsWith('unsafe-') && why !== '')).toBe(true);
    expect(harness.git(guest.project, 'ls-tree', 'HEAD', 'escape')).toMatch(/^120000 /);
    expect(harness.git(guest.project, 'fsck', '--strict')).toBe('');
    expect(await harness.leftovers()).toEqual([]);
  });

  it('keeps its answer within a message, however many and long the names in a guest are', async () => {
    const guest = await harness.stage();
    const name = (i: number) => `${'\u0001é'.repeat(100)}${i}/${'\u0001é'.repeat(90)}`;
    harness.write(guest, Object.fromEntries(Array.from({ length: 700 }, (_, i) => [name(i), 'x'])));
    const view = await harness.commit(guest);
    expect(view.keptCount + view.heldCount + view.refusedCount).toBe(700);
    expect(view.kept.length + view.held.length + view.refused.length).toBeGreaterThan(0);
  });

  it('lets two sessions commit different files, and refuses the same one without harm', async () => {
    const { project } = await harness.stageWith({ a: '1', b: '1' }).then(async (guest) => {
      await harness.commit(guest);
      return guest;
    });
    const [mine, theirs] = [await harness.stage(project), await harness.stage(project)];
    harness.write(mine, { a: '2' });
    harness.write(theirs, { a: '3', b: '2' });
    const first = await harness.commit(mine);
    await expect(harness.commit(theirs)).rejects.toMatchObject({ code: 'COMMIT_CONFLICT', status: 409 });
    expect(await head(mine)).toBe(first.commit);
    harness.write(theirs, { a: '1' });
    expect(await harness.commit(theirs)).toMatchObject({ kept: ['b'] });
    expect([harness.git(project, 'show', 'HEAD:a'), harness.git(project, 'show', 'HEAD:b')]).toEqual(['2', '2']);
  });

  it('answers the same request id with the same commit, also when both ask at once', async () => {
    const guest = await harness.stageWith({ a: '1' });
    const [one, two] = await Promise.all([1, 2].map(() => harness.commit(guest, { requestId: 'call-same' })));
    harness.write(guest, { b: '1' });
    expect(await harness.commit(guest, { requestId: 'call-same' })).toEqual(one);
    expect(two).toEqual(one);
    expect(harness.commitCount(guest.project)).toBe(1);
  });

  it('makes one commit when it is killed between the branch and the row', async () => {
    const guest = await harness.stageWith({ a: '1' });
    const { database } = harness;
    await database.query(
      `CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$ LANGUAGE plpgsql`,
    );
    await database.query(
      'CREATE TRIGGER refuse BEFORE INSERT ON "publish"."commit" FOR EACH ROW EXECUTE FUNCTION refuse()',
    );
    await expect(harness.commit(guest, { requestId: 'call-killed' })).rejects.toMatchObject({ code: 'INTERNAL' });
    await database.query('DROP TRIGGER refuse ON "publish"."commit"');
    const landed = await head(guest);
    const again = await harness.commit(guest, { requestId: 'call-killed' });
    expect(again).toMatchObject({ commit: landed, kept: ['a'] });
    expect(harness.commitCount(guest.project)).toBe(1);
    harness.write(guest, { b: '1' });
    expect(await harness.commit(guest)).toMatchObject({ kept: ['b'] });
  });

  it('commits nothing when the stream breaks off in the middle, and leaves nothing behind', async () => {
    const guest = await harness.stageWith({ a: '1' });
    const first = await harness.commit(guest);
    harness.write(guest, { b: '1' });
    harness.vm.streams.fault = 'cut';
    await expect(harness.commit(guest)).rejects.toMatchObject({ code: 'MACHINE_LOST', fault: 'guest' });
    expect(await head(guest)).toBe(first.commit);
    expect(await harness.leftovers()).toEqual([]);
  });

  it('passes on what vm-service says of a machine that ended or never was', async () => {
    const guest = await harness.stageWith({ a: '1' });
    harness.vm.end(guest.machine, 'panicked');
    await expect(harness.commit(guest)).rejects.toMatchObject({ code: 'MACHINE_STATE_WRONG' });
    const { project, sessionId } = guest;
    const nowhere = { project, sessionId, machineId: 'fake-2222222222' };
    await expect(harness.call(publishOps.stageProject, nowhere)).rejects.toMatchObject({ code: 'MACHINE_UNKNOWN' });
    expect(await head(guest)).toBeNull();
  });

  it('takes no commit of a session that never got the files of the project', async () => {
    const guest = await harness.stageWith({ a: '1' });
    const other = await harness.stage();
    for (const wrong of [{ sessionId: 'ses-none' }, { project: other.project }]) {
      await expect(harness.commit(guest, wrong)).rejects.toMatchObject({ code: 'COMMIT_SESSION_UNSTAGED' });
    }
    expect([await head(guest), await head(other)]).toEqual([null, null]);
  });

  it('takes no more commits of a project than can wait, and works off the others', async () => {
    const guest = await harness.stageWith({ a: '1' });
    const opened = harness.vm.calls.length;
    harness.vm.streams.fault = 'hang';
    const commits = Array.from({ length: 20 }, () => harness.commit(guest).catch((e: unknown) => e));
    await eventually(() => harness.vm.calls.slice(opened).includes('openStream'));
    const refusals = await Promise.race([Promise.all(commits.slice(17)), Promise.any(commits.map((commit) => commit))]);
    expect([refusals].flat()[0]).toMatchObject({ code: 'PROJECT_BUSY', fault: 'infra', status: 503 });
    harness.vm.streams.fault = null;
    harness.vm.streams.cutAll();
    const outcomes = (await Promise.all(commits)) as readonly { readonly code?: string }[];
    expect(outcomes.filter(({ code }) => code === 'PROJECT_BUSY')).toHaveLength(3);
    expect(outcomes.filter(({ code }) => code === undefined)).toHaveLength(16);
    expect(harness.commitCount(guest.project)).toBe(1);
  });
});
