import { randomBytes } from 'node:crypto';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runCommand } from '@inquest/process';
import { CircuitBreaker } from './circuit-breaker';
import { updatesOf } from './testing/double-repositories';
import { startGiteaFixture, TOKEN, type GiteaFixture, type GiteaFixtureOptions } from './testing/gitea-fixture';

jest.setTimeout(60_000);

const never = new AbortController().signal;
const PROJECT = 'demo';
const BRANCH = 'inquest/s-1';

describe('GiteaForge', () => {
  let made: GiteaFixture;
  const start = async (options: GiteaFixtureOptions = {}): Promise<GiteaFixture> =>
    (made = await startGiteaFixture(options));
  afterEach(() => made.close());

  const ensure = () => made.forge.ensureRepository(PROJECT, never);
  const push = (commit = made.commits.first) =>
    made.forge.push({ repositoryPath: made.repositoryPath, project: PROJECT, branch: BRANCH, commit }, never);
  const head = () => made.headOf(PROJECT, BRANCH);
  const repository = () => {
    const found = made.double.repositories.get('robot', PROJECT);
    if (found === null) throw new Error('the test made no repository');
    return found;
  };
  const countOf = (request: RegExp) => made.double.requests.filter((one) => request.test(one)).length;

  describe('at a forge that fails for a while', () => {
    it.each([429, 500, 502, 503])('gets past %d', async (status) => {
      await start();
      made.double.faults.push(
        { request: /^GET .*\/repos\/robot\/demo$/, times: 2, reply: { status, headers: { 'retry-after': '0' } } },
        { request: /^POST .*\/user\/repos$/, reply: { status } },
        { request: /git-receive-pack$/, reply: { status } },
        { request: /^GET .*\/branches\//, reply: { status } },
      );
      await ensure();
      await push();
      expect(await head()).toBe(made.commits.first);
      expect(made.double.faults).toEqual([]);
    });

    it('says so when it does not recover, and has changed nothing', async () => {
      await start();
      made.double.faults.push({ request: /\/repos\/robot\/demo$/, times: 100, reply: { status: 503 } });
      await expect(ensure()).rejects.toMatchObject({ code: 'FORGE_UNAVAILABLE', details: { status: 503 } });
      expect(countOf(/demo$/)).toBe(5);
      expect(made.double.repositories.all()).toEqual([]);
    });

    it('does not wait for as long as it is told when that is very long', async () => {
      await start();
      made.double.faults.push({ request: /demo$/, reply: { status: 429, headers: { 'retry-after': '3600' } } });
      await expect(ensure()).rejects.toMatchObject({ code: 'FORGE_UNAVAILABLE' });
      expect(countOf(/demo$/)).toBe(1);
    });

    it('gets past connections that end without an answer', async () => {
      await start();
      made.double.faults.push({ request: /demo$/, times: 2, reply: 'cut' });
      await ensure();
      expect(made.double.repositories.all()).toHaveLength(1);
    });

    it('makes one repository when the answer to its creation is lost', async () => {
      await start();
      made.double.faults.push({ request: /^POST .*\/user\/repos$/, reply: 'lose-answer' });
      await ensure();
      expect(countOf(/^POST .*\/user\/repos$/)).toBe(2);
      expect(made.double.repositories.all()).toHaveLength(1);
    });

    it('publishes once when the answer to the push is lost', async () => {
      await start();
      await ensure();
      made.double.faults.push({ request: /^POST .*\/git-receive-pack$/, reply: 'lose-answer' });
      expect(await push()).toMatchObject({ verified: true });
      expect(await updatesOf(repository(), BRANCH)).toBe(1);
      expect(await head()).toBe(made.commits.first);
    });

    it('leaves a forge alone that failed several times in a row, and asks again later', async () => {
      let nowMs = 0;
      const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
      await start({ forge: { breaker: new CircuitBreaker({ failureLimit: 2, coolDownMs: 1000 }, clock) } });
      made.double.faults.push({ request: /demo$/, times: 10, reply: { status: 503 } });
      for (let i = 0; i < 4; i++) await expect(ensure()).rejects.toMatchObject({ code: 'FORGE_UNAVAILABLE' });
      expect(countOf(/demo$/)).toBe(10);
      nowMs = 1001;
      await ensure();
      expect(made.double.repositories.all()).toHaveLength(1);
    });

    it('says where it looked when nobody listens there', async () => {
      await start();
      const { url } = made.double;
      await made.double.close();
      await expect(made.forge.check(never)).rejects.toMatchObject({
        code: 'FORGE_UNAVAILABLE',
        message: expect.stringContaining(url),
      });
      made.close = () => Promise.resolve();
    });

    it('stops waiting when it is cancelled', async () => {
      await start({ forge: { requestPatience: { attempts: 5, firstDelayMs: 60_000, maxDelayMs: 60_000 } } });
      made.double.faults.push({ request: /demo$/, reply: { status: 503 } });
      const controller = new AbortController();
      const asked = made.forge.ensureRepository(PROJECT, controller.signal);
      controller.abort();
      await expect(asked).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    });
  });

  describe('with a token that is not enough', () => {
    it.each([
      ['write:user', ['write:repository', 'read:user'], 'robot'],
      ['read:user', ['write:repository'], 'robot'],
      ['write:repository', ['write:user', 'read:repository'], 'robot'],
      ['write:organization', ['read:user', 'write:repository'], 'studio'],
    ])('names the missing scope %s before anything is made', async (scope, scopes, owner) => {
      await start({ token: { scopes }, forge: { owner } });
      for (const ask of [() => made.forge.check(never), ensure]) {
        await expect(ask()).rejects.toMatchObject({
          code: 'FORGE_SCOPE_MISSING',
          details: { scope },
          message: expect.stringContaining(scope),
        });
      }
      expect(made.double.repositories.all()).toEqual([]);
    });

    it('tells a token that is not known from a missing scope', async () => {
      await start({ token: null });
      for (const ask of [() => made.forge.check(never), ensure, push]) {
        await expect(ask()).rejects.toMatchObject({ code: 'FORGE_TOKEN_REJECTED' });
      }
    });

    it('finds a token that the API takes and git does not', async () => {
      await start();
      await ensure();
      made.double.faults.push({ request: /info\/refs$/, times: 9, reply: { status: 401, headers: BASIC } });
      await expect(push()).rejects.toMatchObject({ code: 'FORGE_TOKEN_REJECTED' });
      expect(await head()).toBeNull();
    });

    it('uses a new token as soon as it is in the file', async () => {
      await start();
      await writeFile(made.tokenFile, 'an-old-token-0000\n');
      await expect(ensure()).rejects.toMatchObject({ code: 'FORGE_TOKEN_REJECTED' });
      await writeFile(made.tokenFile, TOKEN);
      await ensure();
      await push();
      expect(await head()).toBe(made.commits.first);
    });

    it('asks nobody anything with a token file that others may read', async () => {
      await start();
      await chmod(made.tokenFile, 0o644);
      await expect(made.forge.check(never)).rejects.toMatchObject({
        code: 'FORGE_TOKEN_UNREADABLE',
        message: expect.stringContaining('0600'),
      });
      expect(made.double.requests).toEqual([]);
    });
  });

  describe('at a repository that is not as expected', () => {
    it.each([
      ['archived', { isArchived: true }],
      ['a mirror', { isMirror: true }],
      ['only readable', { mayPush: false }],
    ])('does not publish to one that is %s', async (_, more) => {
      await start();
      await made.double.repositories.create('robot', PROJECT, more);
      await expect(push()).rejects.toMatchObject({ code: 'FORGE_REPOSITORY_UNUSABLE' });
      await expect(ensure()).rejects.toMatchObject({ code: 'FORGE_REPOSITORY_UNUSABLE' });
      expect(await head()).toBeNull();
    });

    it('does not take the repository of a project whose name differs only in case', async () => {
      await start();
      await made.double.repositories.create('robot', 'Demo');
      await expect(ensure()).rejects.toMatchObject({ code: 'FORGE_REPOSITORY_UNUSABLE' });
      await expect(push()).rejects.toMatchObject({ code: 'FORGE_REPOSITORY_UNUSABLE' });
      expect(await head()).toBeNull();
    });

    it('says that a repository exists which its user cannot see', async () => {
      await start();
      await made.double.repositories.create('robot', PROJECT, { hiddenReads: 1000 });
      await expect(ensure()).rejects.toMatchObject({
        code: 'FORGE_REPOSITORY_UNUSABLE',
        message: expect.stringContaining('cannot see'),
      });
    });

    it('follows a repository that was renamed, below a sub-path too', async () => {
      await start({ double: { subPath: '/git' } });
      await ensure();
      made.double.repositories.rename(repository(), { owner: 'robot', name: 'better-name' });
      expect(await ensure()).toEqual({ url: `${made.double.url}/robot/better-name` });
      await push();
      expect(await made.headOf('better-name', BRANCH)).toBe(made.commits.first);
      expect(made.double.repositories.all()).toHaveLength(1);
    });

    it('does not follow a repository that was given to somebody else', async () => {
      await start();
      await ensure();
      made.double.repositories.rename(repository(), { owner: 'mallory', name: PROJECT });
      await expect(push()).rejects.toMatchObject({
        code: 'FORGE_REPOSITORY_UNUSABLE',
        message: expect.stringContaining('mallory'),
      });
      expect(countOf(/git-receive-pack/)).toBe(0);
    });

    it('makes the repositories of an organization there, and says when there is none', async () => {
      await start({ forge: { owner: 'studio' } });
      await ensure();
      expect(made.double.repositories.get('studio', PROJECT)).toMatchObject({ isPrivate: true });
      await made.close();
      await start({ forge: { owner: 'nobody' } });
      await expect(ensure()).rejects.toMatchObject({
        code: 'FORGE_REQUEST_REFUSED',
        message: expect.stringContaining('GetOrgByName'),
      });
    });

    it('does not push over commits that somebody else pushed', async () => {
      await start();
      await ensure();
      await push();
      const { gitDirectory } = repository();
      const identity = ['-c', 'user.name=Bob', '-c', 'user.email=bob@example.org'];
      const args = [...identity, 'commit-tree', `${BRANCH}^{tree}`, '-p', BRANCH, '-m', 'theirs'];
      const theirs = (await runCommand('git', [`--git-dir=${gitDirectory}`, ...args])).stdout.trim();
      await runCommand('git', [`--git-dir=${gitDirectory}`, 'update-ref', `refs/heads/${BRANCH}`, theirs]);
      await expect(push(made.commits.second)).rejects.toMatchObject({
        code: 'FORGE_BRANCH_MOVED',
        details: { found: theirs },
      });
      expect(await head()).toBe(theirs);
    });

    it('says why the forge refuses the push', async () => {
      await start();
      await ensure();
      const hook = path.join(repository().gitDirectory, 'hooks', 'pre-receive');
      await mkdir(path.dirname(hook), { recursive: true });
      await writeFile(hook, '#!/bin/sh\necho "Gitea: Not allowed to push to protected branch" >&2\nexit 1\n');
      await chmod(hook, 0o755);
      await expect(push()).rejects.toMatchObject({
        code: 'FORGE_PUSH_FAILED',
        message: expect.stringContaining('protected branch'),
      });
      expect(await head()).toBeNull();
    });

    it('publishes more than git sends in one piece', async () => {
      await start();
      await ensure();
      const git = async (input: Uint8Array | string, ...args: string[]): Promise<string> =>
        (await runCommand('git', [`--git-dir=${made.repositoryPath}`, ...args], { input })).stdout.trim();
      const blob = await git(randomBytes(5_000_000), 'hash-object', '-w', '--stdin');
      const tree = await git(`100644 blob ${blob}\tbig.bin\n`, 'mktree');
      const identity = ['-c', 'user.name=Ana', '-c', 'user.email=ana@example.org'];
      const commit = await git('', ...identity, 'commit-tree', tree, '-m', 'big');
      expect(await push(commit)).toMatchObject({ commit, verified: true });
      expect(await head()).toBe(commit);
    });

    it('does not call published what does not read back', async () => {
      await start({ double: { behaviour: { staleBranchReads: 1000 } } });
      await ensure();
      await expect(push()).rejects.toMatchObject({ code: 'FORGE_PUSH_UNVERIFIED', details: { found: null } });
    });
  });
});

const BASIC = { 'www-authenticate': 'Basic realm="Gitea"' };
