import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  imageEvents,
  ImageDiffRequest,
  imageOps,
  ImportImageRequest,
  UnfreezeRequest,
  type ImageVersionView,
} from '@inquest/contracts-image';
import { dto } from '@inquest/contracts-base';
import { StartMachineRequest } from '@inquest/contracts-vm';
import { ImageStore } from '@inquest/image-store';
import { runCommand } from '@inquest/process';
import { eventually } from '@inquest/testing';
import { ImageServiceHarness } from '../testing/image-service-harness';
import { digestOfFile } from '../testing/import-sources';

const UNFROZEN = 'image tiny is unfrozen; freeze it in the maintenance app';

describe('the life of an image after its first freeze', () => {
  let images: ImageServiceHarness;

  beforeAll(async () => {
    images = await ImageServiceHarness.start();
    await images.makeFrozen();
  }, 120_000);
  afterAll(() => images.stop(), 60_000);
  afterEach(async () => {
    images.vm.onExec = () => ({});
    for (const machine of images.vm.live) images.vm.end(machine, 'host_killed');
    await images.tools.unmark('hold');
    const copy = await workingCopy();
    if (copy !== undefined) await images.call(imageOps.remove, { name: 'tiny', version: copy.version });
  });

  const workingCopy = async () => {
    const { versions } = await images.call(imageOps.show, { name: 'tiny' });
    return versions.find(({ state }) => state === 'unfrozen');
  };
  const unfreeze = async (reason = 'for a test') => {
    const operation = await images.call(imageOps.unfreeze, dto(UnfreezeRequest, { name: 'tiny', reason }));
    return images.endOf(operation);
  };
  const show = (version: number) => images.call(imageOps.showVersion, { name: 'tiny', version });
  const frozen = async (): Promise<number> => (await images.call(imageOps.show, { name: 'tiny' })).frozenVersion ?? 0;
  const startOn = (version: number, name: string | null = null) =>
    images.vm.begin(dto(StartMachineRequest, { image: 'tiny', version, name }));
  /** As a maintenance machine would. */
  const writeInto = async (version: number, file: string, content: string): Promise<void> => {
    const source = path.join(images.home, 'content');
    await writeFile(source, content);
    await runCommand('debugfs', ['-w', '-R', `write ${source} ${file}`, images.fileOf(version, 'disk.raw')]);
  };

  describe('a working copy', () => {
    it('is a writable copy with its parent and its reason; the frozen version is not touched', async () => {
      const parent = await frozen();
      const digest = await digestOfFile(images.fileOf(parent, 'disk.raw'));
      await expect(unfreeze('add a tool')).resolves.toMatchObject({ state: 'succeeded', kind: 'image.unfreeze' });
      const copy = (await workingCopy()) as ImageVersionView;
      expect(copy).toMatchObject({ parentVersion: parent, origin: 'maintenance', digest: null, frozenAtMs: null });
      expect(copy.message).toContain('add a tool');
      await writeInto(copy.version, 'tool', 'x');
      expect((await stat(images.fileOf(copy.version, 'disk.raw'))).mode & 0o200).toBe(0o200);
      expect(await digestOfFile(images.fileOf(parent, 'disk.raw'))).toBe(digest);
      await expect(show(copy.version)).resolves.toMatchObject({ unfreezeReason: 'add a tool', ancestors: [parent] });
      await expect(show(parent)).resolves.toMatchObject({ children: [copy.version] });
    });

    it('keeps sessions out that name no version, and lets a pinned one start', async () => {
      const parent = await frozen();
      await unfreeze();
      await expect(images.resolve()).rejects.toMatchObject({ code: 'IMAGE_UNFROZEN', message: UNFROZEN });
      await expect(images.resolve({ version: parent })).resolves.toMatchObject({ version: parent });
    });

    it('is there once', async () => {
      await unfreeze();
      const again = images.call(imageOps.unfreeze, dto(UnfreezeRequest, { name: 'tiny', reason: 'again' }));
      await expect(again).rejects.toMatchObject({ code: 'IMAGE_STATE_WRONG', message: /unfrozen already/ });
    });

    it('is what a maintenance machine gets, and nobody else', async () => {
      await expect(images.resolve({ purpose: 'maintenance' })).rejects.toMatchObject({ code: 'IMAGE_STATE_WRONG' });
      await unfreeze();
      const copy = await workingCopy();
      await expect(images.resolve({ purpose: 'maintenance' })).resolves.toMatchObject({
        version: copy?.version,
        files: [],
      });
      await expect(images.resolve({ version: copy?.version ?? 0 })).rejects.toMatchObject({ code: 'IMAGE_NOT_FROZEN' });
      const parent = { version: await frozen(), purpose: 'maintenance' } as const;
      await expect(images.resolve(parent)).rejects.toMatchObject({ code: 'IMAGE_STATE_WRONG' });
    });

    it('becomes the next version when it is frozen, with what was written into it', async () => {
      const parent = await frozen();
      await unfreeze();
      const { version } = (await workingCopy()) as ImageVersionView;
      await writeInto(version, 'greeting', 'hello');
      await expect(images.freeze()).resolves.toMatchObject({ state: 'succeeded', subject: `tiny:${version}` });
      await expect(images.newest()).resolves.toMatchObject({ version, state: 'frozen', parentVersion: parent });
      await expect(images.resolve()).resolves.toMatchObject({ version });
      const difference = await images.call(
        imageOps.diff,
        dto(ImageDiffRequest, { name: 'tiny', from: parent, to: version }),
      );
      expect(difference).toEqual({
        packages: [],
        files: [{ path: '/greeting', change: 'added', detail: '' }],
        isCut: false,
      });
    });

    it('keeps sessions out until it is frozen, however far its freeze is', async () => {
      await unfreeze();
      const { version } = (await workingCopy()) as ImageVersionView;
      await images.freeze();
      const states: string[] = [];
      const signal = AbortSignal.timeout(30_000);
      for await (const { body } of images.bus.subscribe(imageEvents.changed, { ids: ['tiny'], signal })) {
        if (body.version.version !== version) continue;
        if (states.at(-1) !== body.version.state) states.push(body.version.state);
        if (body.version.state === 'frozen') break;
      }
      expect(states).toEqual(['unfrozen', 'frozen']);
    });

    it('whose freeze was killed when it was sealed is no maintenance machine’s any more, and is frozen by the next', async () => {
      await unfreeze();
      const { version } = (await workingCopy()) as ImageVersionView;
      await new ImageStore(path.join(images.home, 'images')).seal(
        { name: 'tiny', version },
        new AbortController().signal,
      );
      await expect(images.resolve({ purpose: 'maintenance' })).rejects.toMatchObject({
        code: 'IMAGE_STATE_WRONG',
        message: expect.stringContaining('interrupted'),
      });
      await expect(images.freeze()).resolves.toMatchObject({ state: 'succeeded' });
      await expect(images.newest()).resolves.toMatchObject({ version, state: 'frozen' });
      await expect(images.resolve({ version })).resolves.toMatchObject({ version });
    });

    it('whose freeze ended in its checksum can be written again', async () => {
      await unfreeze();
      const { version } = (await workingCopy()) as ImageVersionView;
      const store = new ImageStore(path.join(images.home, 'images'));
      await expect(store.seal({ name: 'tiny', version }, AbortSignal.abort())).rejects.toThrow();
      expect((await stat(images.fileOf(version, 'disk.raw'))).mode & 0o222).toBe(0);
      await images.resolve({ purpose: 'maintenance' });
      expect((await stat(images.fileOf(version, 'disk.raw'))).mode & 0o200).toBe(0o200);
    });

    it('is not frozen while a machine has it open, and the refusal names the machine', async () => {
      await unfreeze();
      const { version } = (await workingCopy()) as ImageVersionView;
      startOn(version, 'workshop');
      await expect(images.freeze()).resolves.toMatchObject({
        state: 'failed',
        error: { code: 'IMAGE_IN_USE', message: expect.stringContaining('workshop') },
      });
      await expect(workingCopy()).resolves.toMatchObject({ version });
    });

    it('stays open when the smoke gate refuses it, and says why', async () => {
      await unfreeze();
      const { version } = (await workingCopy()) as ImageVersionView;
      images.vm.onExec = () => ({ exitCode: 1, stderr: 'broken' });
      await expect(images.freeze()).resolves.toMatchObject({ state: 'failed', error: { code: 'IMAGE_SMOKE_FAILED' } });
      await expect(workingCopy()).resolves.toMatchObject({ version, message: expect.stringContaining('broken') });
      images.vm.onExec = () => ({});
      await expect(images.freeze()).resolves.toMatchObject({ state: 'succeeded' });
    });

    it('with a damaged file system is repaired or refused, never frozen as it is', async () => {
      await unfreeze();
      const { version } = (await workingCopy()) as ImageVersionView;
      await writeFile(images.fileOf(version, 'disk.raw'), Buffer.alloc(4 * 1024 * 1024));
      await expect(images.freeze()).resolves.toMatchObject({
        state: 'failed',
        error: { code: 'IMAGE_FILE_SYSTEM_DAMAGED' },
      });
      await expect(workingCopy()).resolves.toMatchObject({ version });
    });

    it('is discarded with its files; its number is never used again', async () => {
      await unfreeze();
      const { version } = (await workingCopy()) as ImageVersionView;
      const removed = await images.call(imageOps.remove, { name: 'tiny', version });
      expect(removed).toMatchObject({ state: 'retired', isRemoved: true, message: 'the working copy was discarded' });
      expect(await readdir(path.join(images.home, 'images', 'tiny'))).not.toContain(String(version));
      await expect(images.resolve()).resolves.toMatchObject({ version: await frozen() });
      await images.build();
      await expect(images.newest()).resolves.toMatchObject({ version: version + 1 });
    });

    it('is not made of a version that was changed on disk', async () => {
      const { version } = await images.makeFrozen();
      await chmod(images.fileOf(version, 'disk.raw'), 0o644);
      await expect(unfreeze()).resolves.toMatchObject({ state: 'failed', error: { code: 'IMAGE_FILE_CHANGED' } });
      await expect(workingCopy()).resolves.toBeUndefined();
    });
  });

  describe('the end of a version', () => {
    it('is refused while machines or children stand on it, naming them', async () => {
      const { version } = await images.makeFrozen();
      const machine = startOn(version, 'box');
      const retire = () => images.call(imageOps.retire, { name: 'tiny', version });
      await expect(retire()).rejects.toMatchObject({
        code: 'IMAGE_IN_USE',
        message: expect.stringContaining('machine box'),
      });
      images.vm.end(machine, 'clean_poweroff');
      await unfreeze();
      const copy = (await workingCopy()) as ImageVersionView;
      await expect(retire()).rejects.toMatchObject({
        code: 'IMAGE_IN_USE',
        message: expect.stringContaining(`version tiny:${copy.version}`),
      });
      await images.call(imageOps.remove, { name: 'tiny', version: copy.version });
      await expect(retire()).resolves.toMatchObject({ state: 'retired' });
    });

    it('takes it from the starts first and from the disk later', async () => {
      const older = await frozen();
      const { version } = await images.makeFrozen();
      const remove = () => images.call(imageOps.remove, { name: 'tiny', version });
      await expect(remove()).rejects.toMatchObject({
        code: 'IMAGE_STATE_WRONG',
        message: expect.stringContaining('retire'),
      });
      await images.call(imageOps.retire, { name: 'tiny', version });
      await expect(images.resolve({ version })).rejects.toMatchObject({ code: 'IMAGE_NOT_FROZEN' });
      await expect(images.resolve()).resolves.toMatchObject({ version: older });
      await expect(show(version)).resolves.toMatchObject({ diskUseBytes: expect.any(Number) });
      expect((await show(version)).diskUseBytes).toBeGreaterThan(0);
      await expect(remove()).resolves.toMatchObject({ isRemoved: true });
      await expect(remove()).resolves.toMatchObject({ isRemoved: true });
      await expect(show(version)).resolves.toMatchObject({ diskUseBytes: 0, files: [] });
    });

    it('takes the templates of every node along, and leaves those of other versions', async () => {
      const { version } = await images.makeFrozen();
      const other = await images.makeFrozen();
      expect(images.vm.templates).toContain(`tiny:${version}`);
      await images.call(imageOps.retire, { name: 'tiny', version });
      expect(images.vm.templates).not.toContain(`tiny:${version}`);
      expect(images.vm.templates).toContain(`tiny:${other.version}`);
    });

    it('waits for no operation: it is refused while one is at work on the image', async () => {
      const version = await frozen();
      await images.tools.mark('hold');
      const build = await images.call(imageOps.build, { name: 'tiny' });
      await expect(images.call(imageOps.retire, { name: 'tiny', version })).rejects.toMatchObject({
        code: 'IMAGE_BUSY',
      });
      await images.call(imageOps.cancelOperation, { operationId: build.operationId });
    });
  });

  describe('an operation', () => {
    it('that is cancelled stops its programs and leaves a version that says so', async () => {
      await images.tools.mark('hold');
      const { operationId } = await images.call(imageOps.build, { name: 'tiny' });
      await eventually(async () => (await images.newest()).state === 'building');
      await expect(images.call(imageOps.cancelOperation, { operationId })).resolves.toMatchObject({
        state: 'cancelled',
        error: { code: 'OPERATION_ABORTED' },
      });
      await expect(images.newest()).resolves.toMatchObject({
        state: 'failed',
        message: expect.stringContaining('cancelled'),
      });
      expect(await readdir(path.join(images.home, 'images', '.staging'))).toEqual([]);
      await expect(images.call(imageOps.cancelOperation, { operationId })).resolves.toMatchObject({
        state: 'cancelled',
      });
      await images.tools.unmark('hold');
      await expect(images.build()).resolves.toMatchObject({ state: 'succeeded' });
    });

    it('tells each of its steps as an event, and its end', async () => {
      const { operationId } = await images.build();
      const controller = new AbortController();
      const steps: string[] = [];
      const subscription = images.bus.subscribe(imageEvents.operationChanged, {
        ids: [operationId],
        signal: controller.signal,
      });
      for await (const { body } of subscription) {
        steps.push(body.operation.step);
        if (body.operation.state !== 'running') controller.abort();
      }
      expect(steps).toEqual(['disk of tiny', 'kernel, guest agent and initramfs', 'copy of the kernel', 'done']);
    });
  });

  it('an import of what another platform froze goes through the same gate', async () => {
    const source = path.join(images.home, 'imports', 'disk.ext4');
    await runCommand('install', ['-D', images.fileOf(await frozen(), 'disk.raw'), source]);
    const request = dto(ImportImageRequest, {
      name: 'tiny',
      format: 'ext4',
      path: 'disk.ext4',
      digest: await digestOfFile(source),
      requiredCli: 'agent --version',
    });
    await images.endOf(await images.call(imageOps.import, request));
    const commands: string[] = [];
    images.vm.onExec = ({ command }) => {
      commands.push(command);
      return {};
    };
    await expect(images.freeze()).resolves.toMatchObject({ state: 'succeeded' });
    expect(commands).toEqual(["'true'", 'agent --version']);
    await expect(images.newest()).resolves.toMatchObject({
      state: 'frozen',
      origin: 'import',
      sourceDigest: request.digest,
    });
  });
});

describe('the scheduled verification', () => {
  let images: ImageServiceHarness;

  beforeAll(async () => {
    images = await ImageServiceHarness.start({ INQUEST_VERIFY_INTERVAL_MS: '1000' });
  }, 120_000);
  afterAll(() => images.stop(), 60_000);

  it('reads frozen versions again, finds a flipped bit, and no machine starts on the version any more', async () => {
    const { version, verifiedAtMs } = await images.makeFrozen();
    await eventually(async () => ((await images.newest()).verifiedAtMs ?? 0) > (verifiedAtMs ?? Infinity));
    const disk = images.fileOf(version, 'disk.raw');
    const bytes = await readFile(disk);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    await chmod(disk, 0o644);
    await writeFile(disk, bytes);
    await chmod(disk, 0o444);
    await eventually(async () => (await images.newest()).state === 'failed');
    const { message } = await images.newest();
    expect(message).toMatch(/sha256:[0-9a-f]{64} and is sha256:[0-9a-f]{64}; every machine on it is suspect/);
    for (const wanted of [{}, { version }]) {
      await expect(images.resolve(wanted)).rejects.toMatchObject({
        code: 'IMAGE_CHANGED',
        message: expect.stringContaining('suspect'),
      });
    }
  });
});
