import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { imageEvents, imageOps, ImageVersionRequest, type ImageLogView } from '@inquest/contracts-image';
import { dto, OperationRequest } from '@inquest/contracts-base';
import { vmError } from '@inquest/contracts-vm';
import { ImageStore } from '@inquest/image-store';
import { delay } from '@inquest/kernel';
import { eventually } from '@inquest/testing';
import { ImageServiceHarness } from '../testing/image-service-harness';
import { ImageVersionEntity } from './image-version.entity';

describe('the life of an image version', () => {
  let images: ImageServiceHarness;

  beforeAll(async () => {
    images = await ImageServiceHarness.start({ INQUEST_SMOKE_TIMEOUT_MS: '6000' });
  }, 120_000);
  afterAll(() => images.stop(), 60_000);
  afterEach(async () => {
    jest.restoreAllMocks();
    images.vm.onExec = () => ({});
    images.vm.isBootHeld = false;
    await images.tools.unmark('hold');
    await images.tools.unmark('fail');
  });

  const readLog = async (version: number): Promise<string> => {
    let text = '';
    let part: ImageLogView = { text: '', nextOffset: 0 };
    do {
      part = await images.call(imageOps.log, { name: 'tiny', version, fromOffset: part.nextOffset });
      text += part.text;
    } while (part.text !== '');
    return text;
  };
  const isGone = async (version: number): Promise<boolean> => {
    const versions: string[] = await readdir(path.join(images.home, 'images', 'tiny')).catch(() => []);
    return !versions.includes(String(version));
  };

  describe('a build', () => {
    it('makes the next version, with its lineage and its log', async () => {
      const operation = await images.build();
      expect(operation).toMatchObject({ kind: 'image.build', state: 'succeeded', percent: 100, error: null });
      const first = await images.newest();
      expect(first).toMatchObject({
        state: 'built',
        version: 1,
        kernelVersion: '6.1.0-test',
        agentVersion: '1.0.0',
        sizeBytes: 4 * 1024 * 1024,
        recipeDigest: expect.stringMatching(/^sha256:/),
        frozenAtMs: null,
      });
      await images.build();
      await expect(images.newest()).resolves.toMatchObject({ version: 2, recipeDigest: first.recipeDigest });
      const log = await readLog(1);
      expect(log).toContain('packing the initramfs');
      expect(log).toContain('writing the disk: zwölf');
    });

    it('that fails is kept as failed, with its log, and places nothing', async () => {
      await images.tools.mark('fail');
      const operation = await images.build();
      expect(operation).toMatchObject({
        state: 'failed',
        error: { code: 'IMAGE_BUILD_FAILED', message: expect.stringContaining('no space left on device') },
      });
      const { version, state, message } = await images.newest();
      expect([state, message]).toEqual(['failed', operation.error?.message]);
      expect(await readLog(version)).toMatch(/no space left on device[^]*failed: /);
      expect(await isGone(version)).toBe(true);
      await expect(images.freeze(version)).rejects.toMatchObject({ code: 'IMAGE_STATE_WRONG' });
    });

    it('keeps the two newest kernels in the cache, whatever was there', async () => {
      const cache = path.join(images.home, 'kernels');
      for (const [age, name] of ['6.1.0-3_1', '6.1.0-2_1', '6.1.0-1_1'].entries()) {
        const manifest = path.join(cache, name, 'manifest.json');
        await mkdir(path.dirname(manifest), { recursive: true });
        await writeFile(manifest, '{}');
        const atS = Date.now() / 1000 - age * 60;
        await utimes(manifest, atS, atS);
      }
      await mkdir(path.join(cache, '.unfinished-x'));
      await images.build();
      const left = (await readdir(cache, { withFileTypes: true })).filter((entry) => entry.isDirectory());
      expect(left.map(({ name }) => name).sort()).toEqual(['.unfinished-x', '6.1.0-2_1', '6.1.0-3_1']);
    });

    it('keeps the logs of the newest 20 failed versions, and all of those that can be used', async () => {
      await images.build();
      const usable = (await images.newest()).version;
      const log = (version: number) => path.join(images.home, 'image-logs', `tiny-${version}.log`);
      const failed = Array.from({ length: 22 }, (_, index) => usable + 1 + index);
      const rows = images.database.getRepository(ImageVersionEntity);
      const row = await rows.findOneByOrFail({ name: 'tiny', version: usable });
      await rows.insert(failed.map((version) => ({ ...row, version, state: 'failed' as const })));
      await Promise.all(failed.map((version) => writeFile(log(version), 'failed')));
      await images.build();
      const kept = failed.filter((version) => existsSync(log(version)));
      expect(kept).toEqual(failed.slice(2));
      expect(existsSync(log(usable))).toBe(true);
      await expect(readLog(failed[0] ?? 0)).resolves.toBe('');
    });

    it('keeps a second operation on the same image out, naming itself', async () => {
      await images.tools.mark('hold');
      const first = await images.call(imageOps.build, { name: 'tiny' });
      await expect(images.call(imageOps.build, { name: 'tiny' })).rejects.toMatchObject({
        code: 'IMAGE_BUSY',
        message: expect.stringContaining(first.operationId),
        details: { operation: first.operationId },
      });
      await images.tools.unmark('hold');
      await expect(images.endOf(first)).resolves.toMatchObject({ state: 'succeeded' });
      await expect(images.build()).resolves.toMatchObject({ state: 'succeeded' });
    });

    it('of an image without a recipe is refused, naming those that have one', async () => {
      await expect(images.call(imageOps.build, { name: 'nope' })).rejects.toMatchObject({
        code: 'IMAGE_RECIPE_UNKNOWN',
        message: expect.stringContaining('tiny'),
      });
    });

    it('can be watched step by step, and a wait for a known step ends with the next', async () => {
      await images.tools.mark('hold');
      const { operationId } = await images.call(imageOps.build, { name: 'tiny' });
      const see = (waitMs: number, knownStep: string | null = null) =>
        images.call(imageOps.operation, dto(OperationRequest, { operationId, waitMs, knownStep }));
      await eventually(async () => (await see(0)).step === 'disk of tiny');
      await expect(see(50)).resolves.toMatchObject({ state: 'running', step: 'disk of tiny' });
      const next = see(50_000, 'disk of tiny');
      await images.tools.unmark('hold');
      const { step } = await next;
      expect(step).not.toBe('disk of tiny');
      await expect(images.endOf({ operationId })).resolves.toMatchObject({ state: 'succeeded', step: 'done' });
      await expect(
        images.call(imageOps.operation, dto(OperationRequest, { operationId: 'op-nobody' })),
      ).rejects.toMatchObject({ code: 'OPERATION_UNKNOWN' });
    });
  });

  describe('a freeze', () => {
    it('proves the version in a machine as a session starts it, seals it, and leaves no machine', async () => {
      await images.build();
      const commands: string[] = [];
      images.vm.onExec = ({ command }) => {
        commands.push(command);
        return { stdout: 'fine\n' };
      };
      const operation = await images.freeze();
      expect(operation).toMatchObject({ kind: 'image.freeze', state: 'succeeded' });
      const frozen = await images.newest();
      expect(frozen).toMatchObject({ state: 'frozen', digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) });
      expect(frozen.frozenAtMs).not.toBeNull();
      expect(frozen.checks.map(({ name, outcome }) => `${outcome}: ${name}`)).toEqual([
        'passed: the guest agent answers',
        'passed: commands run',
        'passed: the shell quotes',
        'unchecked: required CLI',
        'passed: powers off cleanly',
      ]);
      expect(commands).toEqual(["'true'", 'echo "it\'s"']);
      const machine = images.vm.newest;
      expect(machine.view).toMatchObject({
        image: 'tiny',
        version: frozen.version,
        owner: operation.operationId,
        memoryMib: 128,
        isRemoved: true,
      });
      const { mode } = await stat(images.fileOf(frozen.version, 'disk.raw'));
      expect(mode & 0o777).toBe(0o444);
      expect(await readLog(frozen.version)).toContain('check passed: powers off cleanly');
    });

    it('measures the smoke gate and the template apart from each other and from the rest', async () => {
      await images.build();
      const { smokeMs, templateMs } = await images.newest();
      expect({ smokeMs, templateMs }).toEqual({ smokeMs: null, templateMs: null });
      // The one part of the freeze that is known to take this long.
      images.vm.onExec = async () => {
        await delay(300);
        return {};
      };
      const { startedAtMs, endedAtMs } = await images.freeze();
      const frozen = await images.newest();
      expect(frozen.smokeMs).toBeGreaterThanOrEqual(600);
      expect(frozen.templateMs).not.toBeNull();
      const parts = (frozen.smokeMs ?? 0) + (frozen.templateMs ?? 0);
      expect(parts).toBeLessThanOrEqual((endedAtMs ?? 0) - startedAtMs + 2);
      expect(await readLog(frozen.version)).toMatch(/smoke gate passed in \d+\.\d s\n[^]*template made in \d+\.\d s\n/);
    });

    it.each([
      ['the guest agent answers', 'ended before it was ready'],
      ['the shell quotes', 'exit code 7: broken'],
      ['powers off cleanly', 'forced_poweroff'],
    ])('fails with the check "%s", keeps the version as failed, and leaves no machine', async (check, detail) => {
      await images.build();
      const { vm } = images;
      if (check === 'the guest agent answers') {
        vm.isBootHeld = true;
        void eventually(() => vm.newest.isLive).then(() => vm.end(vm.newest, 'panicked'));
      }
      if (check === 'the shell quotes') {
        vm.onExec = ({ command }) => (command.startsWith('echo') ? { exitCode: 7, stderr: 'broken' } : {});
      }
      if (check === 'powers off cleanly') {
        jest.spyOn(vm, 'end').mockImplementationOnce((machine) => machine.end('forced_poweroff', Date.now()));
      }
      const operation = await images.freeze();
      expect(operation).toMatchObject({
        state: 'failed',
        error: { code: 'IMAGE_SMOKE_FAILED', details: { check }, message: expect.stringContaining(detail) },
      });
      const failed = await images.newest();
      expect(failed).toMatchObject({ state: 'failed', digest: null });
      expect(failed.checks.at(-1)).toMatchObject({ name: check, outcome: 'failed' });
      expect(vm.live).toEqual([]);
      await expect(images.freeze(failed.version)).rejects.toMatchObject({ code: 'IMAGE_STATE_WRONG' });
    });

    it('fails with the check that took too long', async () => {
      await images.build();
      images.vm.isBootHeld = true;
      await expect(images.freeze()).resolves.toMatchObject({
        state: 'failed',
        error: { code: 'IMAGE_SMOKE_FAILED', message: expect.stringContaining('longer than 6000 ms') },
      });
      expect(images.vm.live).toEqual([]);
    });

    it('that could not be tried says nothing against the version', async () => {
      await images.build();
      images.vm.failNext('start', vmError('MACHINE_START_REFUSED', 'the disk is full'));
      await expect(images.freeze()).resolves.toMatchObject({
        state: 'failed',
        error: { code: 'MACHINE_START_REFUSED' },
      });
      await expect(images.newest()).resolves.toMatchObject({ state: 'built' });
      await expect(images.freeze()).resolves.toMatchObject({ state: 'succeeded' });
    });

    it('removes the machine also when nobody knows whether it was started', async () => {
      await images.build();
      images.vm.failNext('start', vmError('MACHINE_START_REFUSED', 'the answer was lost'), { isDone: true });
      await expect(images.freeze()).resolves.toMatchObject({
        state: 'failed',
        error: { code: 'MACHINE_START_REFUSED' },
      });
      await eventually(() => images.vm.newest.view.isRemoved);
    });

    it('goes on where a kill between the seal and the row left it, without another boot', async () => {
      await images.build();
      const { version } = await images.newest();
      const store = new ImageStore(path.join(images.home, 'images'));
      const record = await store.seal({ name: 'tiny', version }, new AbortController().signal);
      await images.database.getRepository(ImageVersionEntity).update({ name: 'tiny', version }, { state: 'smoke_ok' });
      const machines = images.vm.machines.size;
      await expect(images.freeze()).resolves.toMatchObject({ state: 'succeeded' });
      await expect(images.newest()).resolves.toMatchObject({
        state: 'frozen',
        digest: record.files['disk.raw']?.digest,
      });
      expect(images.vm.machines.size).toBe(machines);
    });

    it('that is asked for twice at once is done once, and the other is told which is at work', async () => {
      await images.build();
      const machines = images.vm.machines.size;
      const request = dto(ImageVersionRequest, { name: 'tiny' });
      const asked = await Promise.allSettled([
        images.call(imageOps.freeze, request),
        images.call(imageOps.freeze, request),
      ]);
      const [begun] = asked.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
      const refusals = asked.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
      expect(refusals).toEqual([
        expect.objectContaining({
          code: 'IMAGE_BUSY',
          details: expect.objectContaining({ operation: begun?.operationId }),
        }),
      ]);
      await expect(images.endOf(begun ?? { operationId: '' })).resolves.toMatchObject({ state: 'succeeded' });
      await expect(images.newest()).resolves.toMatchObject({ state: 'frozen' });
      expect(images.vm.machines.size).toBe(machines + 1);
    });

    it('of a version that was frozen meanwhile changes nothing', async () => {
      const { version } = await images.makeFrozen();
      await expect(images.freeze(version)).rejects.toMatchObject({ code: 'IMAGE_STATE_WRONG' });
      await expect(images.newest()).resolves.toMatchObject({ version, state: 'frozen' });
    });
  });

  describe('what a machine may start from', () => {
    it('is the newest frozen version with its records, or the one that was named', async () => {
      const older = await images.makeFrozen();
      const newer = await images.makeFrozen();
      await images.build();
      await expect(images.resolve()).resolves.toMatchObject({
        version: newer.version,
        kernelArguments: ['quiet'],
        defaultMemoryMib: 128,
        hasScreen: false,
        files: expect.arrayContaining([
          expect.objectContaining({ file: 'disk.raw', digest: newer.digest, mode: '0444' }),
        ]),
      });
      await expect(images.resolve({ version: older.version })).resolves.toMatchObject({ version: older.version });
    });

    it('stays what it was when the recipe changes', async () => {
      const { version } = await images.makeFrozen();
      const recipe = await readFile(images.tools.fileOf('tiny', 'recipe.yaml'), 'utf8');
      await images.tools.writeRecipe('tiny', recipe.replace('[quiet]', '[debug]').replace('128', '512'));
      await expect(images.resolve({ version })).resolves.toMatchObject({
        kernelArguments: ['quiet'],
        defaultMemoryMib: 128,
      });
      await images.tools.writeRecipe('tiny', recipe);
    });

    it('is refused for what is unknown, not frozen or not complete', async () => {
      await images.build();
      const { version } = await images.newest();
      await expect(images.resolve({ name: 'nope' })).rejects.toMatchObject({
        code: 'IMAGE_UNKNOWN',
        message: expect.stringContaining('vmctl image build nope'),
      });
      await expect(images.resolve({ version: 999 })).rejects.toMatchObject({ code: 'IMAGE_UNKNOWN' });
      await expect(images.resolve({ version })).rejects.toMatchObject({ code: 'IMAGE_NOT_FROZEN' });
      await images.tools.mark('fail');
      await images.build();
      const failed = await images.newest();
      await expect(images.resolve({ version: failed.version, purpose: 'smoke' })).rejects.toMatchObject({
        code: 'IMAGE_STATE_WRONG',
      });
      await expect(images.resolve({ version, purpose: 'smoke' })).resolves.toMatchObject({ version, files: [] });
    });
  });

  describe('a verify', () => {
    it('of an untouched version passes and says when', async () => {
      const before = await images.makeFrozen();
      await expect(images.verify()).resolves.toMatchObject({ state: 'succeeded' });
      const { verifiedAtMs } = await images.newest();
      expect(verifiedAtMs).toBeGreaterThan(before.verifiedAtMs ?? 0);
    });

    it('finds a flipped bit, names both digests, and nothing starts on the version any more', async () => {
      const { version, digest } = await images.makeFrozen();
      const disk = images.fileOf(version, 'disk.raw');
      const bytes = await readFile(disk);
      bytes[1000] = (bytes[1000] ?? 0) ^ 1;
      await chmod(disk, 0o644);
      await writeFile(disk, bytes);
      await chmod(disk, 0o444);
      const operation = await images.verify(version);
      expect(operation).toMatchObject({ state: 'failed', error: { code: 'IMAGE_DIGEST_MISMATCH' } });
      expect(operation.error?.message).toContain(digest);
      expect(operation.error?.message).toMatch(/is sha256:[0-9a-f]{64}/);
      await expect(images.newest()).resolves.toMatchObject({ state: 'failed' });
      await expect(images.resolve({ version })).rejects.toMatchObject({ code: 'IMAGE_CHANGED' });
      await expect(images.resolve()).rejects.toMatchObject({ code: 'IMAGE_CHANGED' });
    });

    it('finds a file that was replaced under its record, even by one of the same content', async () => {
      const { version } = await images.makeFrozen();
      const kernel = images.fileOf(version, 'vmlinux');
      await copyFile(kernel, `${images.home}/vmlinux`);
      await rename(`${images.home}/vmlinux`, kernel);
      const operation = await images.verify(version);
      expect(operation).toMatchObject({
        state: 'failed',
        error: { code: 'IMAGE_FILE_CHANGED', message: expect.stringMatching(/vmlinux .* inode was \d+, is \d+/) },
      });
      await expect(images.newest()).resolves.toMatchObject({ state: 'failed' });
      await expect(images.resolve({ version })).rejects.toMatchObject({ code: 'IMAGE_CHANGED' });
    });
  });

  it('is told to watchers, every state in its order', async () => {
    const { version } = await images.makeFrozen();
    const states: string[] = [];
    const stop = AbortSignal.timeout(30_000);
    for await (const { body } of images.bus.subscribe(imageEvents.changed, { ids: ['tiny'], signal: stop })) {
      if (body.version.version !== version) continue;
      if (states.at(-1) !== body.version.state) states.push(body.version.state);
      if (body.version.state === 'frozen') break;
    }
    expect(states.slice(-3)).toEqual(['built', 'smoke_ok', 'frozen']);
  });

  it('has a log for every version there is, and for no other', async () => {
    await expect(images.call(imageOps.log, { name: 'tiny', version: 999, fromOffset: 0 })).rejects.toMatchObject({
      code: 'IMAGE_UNKNOWN',
    });
    await expect(images.call(imageOps.log, { name: '../x', version: 1, fromOffset: 0 })).rejects.toMatchObject({
      code: 'INPUT_INVALID',
    });
    await expect(images.call(imageOps.log, { name: 'tiny', version: 1, fromOffset: 1e9 })).resolves.toEqual({
      text: '',
      nextOffset: 1e9,
    });
  });
});
