import { existsSync, watch, type FSWatcher } from 'node:fs';
import { readdir, readFile, stat, truncate } from 'node:fs/promises';
import path from 'node:path';
import { imageOps, ImageVersionRequest, UnfreezeRequest, type ImageVersionView } from '@inquest/contracts-image';
import { dto } from '@inquest/contracts-base';
import { withDeadline } from '@inquest/kernel';
import { ImageStore } from '@inquest/image-store';
import { eventually } from '@inquest/testing';
import { buildDirectoryPrefix } from './build-directories';
import { ImageServiceHarness } from '../testing/image-service-harness';

/** So much that the checksum takes long enough to be met in its middle; holes, which take no space. */
const LARGE_BYTES = 192 * 1024 ** 2;
const MEET_MS = 120_000;
const never = new AbortController().signal;

/** Ids of processes that have a file below a directory among their arguments. */
async function processesNaming(directory: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name));
  const found = await Promise.all(
    ids.map(async (id) => {
      const command = await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '');
      return command.split('\0').some((argument) => argument.startsWith(`${directory}/`)) ? [id] : [];
    }),
  );
  return found.flat();
}

describe('image-service that is killed with SIGKILL', () => {
  let images: ImageServiceHarness;
  let store: ImageStore;

  beforeAll(async () => {
    images = await ImageServiceHarness.start({}, { isProcess: true });
    store = new ImageStore(path.join(images.home, 'images'));
  }, 240_000);
  afterAll(() => images.stop(), 120_000);
  afterEach(() => {
    images.vm.onExec = () => ({});
    images.vm.isBootHeld = false;
  });

  /** Begins to freeze a new version, kills at the moment, starts again; the version as it is found then. */
  const killedAt = async (moment: (version: number) => Promise<unknown>): Promise<ImageVersionView> => {
    await images.build();
    const { version } = await images.newest();
    const met = moment(version);
    const begun = await images.call(imageOps.freeze, dto(ImageVersionRequest, { name: 'tiny', version }));
    await withDeadline(met, MEET_MS, 'the moment of the kill');
    await images.killImageService();
    await images.startImageService();
    const found = await images.newest();
    const { state, error } = await images.endOf(begun);
    // Whoever waits is told of a freeze that was done, or that it was interrupted.
    if (state !== 'succeeded') expect([state, error?.code]).toEqual(['failed', 'OPERATION_INTERRUPTED']);
    else expect(found.state).toBe('frozen');
    return found;
  };

  /** Frozen means all of it: read-only files, a record that they match, in the database and beside them. */
  const expectWhole = async ({ version, state, digest }: ImageVersionView): Promise<void> => {
    expect(state).toBe('frozen');
    const record = await store.readRecord({ name: 'tiny', version });
    expect(record.files['disk.raw']?.digest).toBe(digest);
    await store.verifyFully(record, never);
    for (const file of Object.keys(record.files)) {
      expect((await stat(images.fileOf(version, file))).mode & 0o222).toBe(0);
    }
    const { files } = await images.resolve({ version });
    expect(Object.fromEntries(files.map((sealed) => [sealed.file, sealed.digest]))).toEqual(
      Object.fromEntries(Object.entries(record.files).map(([file, { digest: recorded }]) => [file, recorded])),
    );
  };

  /** Not frozen means that nothing starts from it, and that nothing prevents another freeze. */
  const expectOpen = async ({ version, state }: ImageVersionView): Promise<void> => {
    expect(['built', 'smoke_ok']).toContain(state);
    await expect(images.resolve({ version })).rejects.toMatchObject({ code: 'IMAGE_NOT_FROZEN' });
    await expect(images.freeze(version)).resolves.toMatchObject({ state: 'succeeded' });
    await expectWhole(await images.newest());
    await eventually(() => images.vm.live.length === 0);
  };

  it('in a build removes the temporary files of that when it is started again', async () => {
    const { dir, base } = path.parse(buildDirectoryPrefix(images.home));
    const left = async (): Promise<string[]> => (await readdir(dir)).filter((name) => name.startsWith(base));
    await images.tools.mark('hold');
    await images.call(imageOps.build, { name: 'tiny' });
    await eventually(async () => (await left()).length > 0);
    await images.killImageService();
    expect(await left()).toHaveLength(1);
    await images.tools.unmark('hold');
    await images.startImageService();
    await eventually(async () => (await left()).length === 0);
    await expect(images.build()).resolves.toMatchObject({ state: 'succeeded' });
  });

  it('in a smoke boot leaves the version unfrozen: the machine is removed, and the next freeze proves it anew', async () => {
    images.vm.isBootHeld = true;
    const found = await killedAt(() => eventually(() => images.vm.live.length > 0));
    await eventually(() => images.vm.live.length === 0);
    images.vm.isBootHeld = false;
    expect(found).toMatchObject({ state: 'built', digest: null });
    await expectOpen(found);
  });

  it('in the checksum of a freeze leaves no record, and the next freeze ends it without another boot', async () => {
    const found = await killedAt(async (version) => {
      await truncate(images.fileOf(version, 'disk.raw'), LARGE_BYTES);
      // The files lose their write permission just before they are read.
      return eventually(async () => ((await stat(images.fileOf(version, 'vmlinux'))).mode & 0o222) === 0, {
        intervalMs: 1,
        timeoutMs: MEET_MS,
      });
    });
    expect(existsSync(images.fileOf(found.version, 'record.json'))).toBe(false);
    expect(found).toMatchObject({ state: 'smoke_ok' });
    const machines = images.vm.machines.size;
    await expectOpen(found);
    expect(images.vm.machines.size).toBe(machines);
  });

  it('as the record of a version appears leaves it frozen or not, and never anything between', async () => {
    let watcher: FSWatcher | null = null;
    const found = await killedAt(
      (version) =>
        new Promise<void>((resolve) => {
          const directory = path.dirname(images.fileOf(version, 'record.json'));
          watcher = watch(directory, (_, name) => name === 'record.json' && resolve());
        }),
    );
    (watcher as FSWatcher | null)?.close();
    if (found.state === 'frozen') await expectWhole(found);
    else await expectOpen(found);
  });

  it('once a version is frozen leaves it frozen, whatever became of its template', async () => {
    const found = await killedAt(async (version) =>
      eventually(async () => (await images.resolve({ version })).version === version, { timeoutMs: MEET_MS }),
    );
    await expectWhole(found);
    await expect(images.verify(found.version)).resolves.toMatchObject({ state: 'succeeded' });
  });

  it('in a build leaves no program of it, nothing staged, and a failed version that says why', async () => {
    await images.tools.mark('hold');
    await images.call(imageOps.build, { name: 'tiny' });
    const builders = await eventually(async () => {
      const found = await processesNaming(images.tools.directory);
      return found.length > 0 && found;
    });
    await images.killImageService();
    await eventually(async () => (await processesNaming(images.tools.directory)).length === 0);
    await images.startImageService();
    expect(builders).not.toEqual([]);
    await images.tools.unmark('hold');
    await expect(images.newest()).resolves.toMatchObject({
      state: 'failed',
      message: 'image-service stopped while this version was being built',
    });
    expect(await readdir(path.join(images.home, 'images'))).not.toContain('.staging');
    await expect(images.build()).resolves.toMatchObject({ state: 'succeeded' });
    await expect(images.freeze()).resolves.toMatchObject({ state: 'succeeded' });
  });

  it('in the smoke boot of a working copy leaves it open, and sessions refused', async () => {
    const parent = (await images.newest()).version;
    await images.endOf(
      await images.call(imageOps.unfreeze, dto(UnfreezeRequest, { name: 'tiny', reason: 'for a test' })),
    );
    const copy = await images.newest();
    expect(copy).toMatchObject({ state: 'unfrozen', parentVersion: parent });
    images.vm.isBootHeld = true;
    await images.call(imageOps.freeze, dto(ImageVersionRequest, { name: 'tiny' }));
    await eventually(() => images.vm.live.length > 0, { timeoutMs: MEET_MS });
    await images.killImageService();
    await images.startImageService();
    await expect(images.newest()).resolves.toMatchObject({ version: copy.version, state: 'unfrozen' });
    await expect(images.resolve()).rejects.toMatchObject({ code: 'IMAGE_UNFROZEN' });
    await eventually(() => images.vm.live.length === 0);
    images.vm.isBootHeld = false;
    await expect(images.freeze()).resolves.toMatchObject({ state: 'succeeded' });
    await expectWhole(await images.newest());
  });
});
