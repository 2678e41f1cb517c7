import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { imageOps } from '@inquest/contracts-image';
import { eventually } from '@inquest/testing';
import { ImageServiceHarness } from '../testing/image-service-harness';
import { buildDirectoryPrefix } from './build-directories';

/** The scripts of the harness leave a root behind in their directory for temporary files, as a killed mmdebstrap does. */
describe('the temporary files of a build', () => {
  let images: ImageServiceHarness;

  beforeAll(async () => {
    images = await ImageServiceHarness.start();
  }, 120_000);
  afterAll(() => images.stop(), 60_000);
  afterEach(async () => {
    await images.tools.unmark('hold');
    await images.tools.unmark('fail');
  });

  const left = async (): Promise<string[]> => {
    const { dir, base } = path.parse(buildDirectoryPrefix(images.home));
    return (await readdir(dir)).filter((name) => name.startsWith(base)).map((name) => path.join(dir, name));
  };
  /** A build that has made its root and goes on for ever. */
  const held = async (): Promise<string> => {
    await images.tools.mark('hold');
    const { operationId } = await images.call(imageOps.build, { name: 'tiny' });
    await eventually(async () => {
      const [directory = ''] = await left();
      return (await readdir(path.join(directory, 'mmdebstrap.test', 'etc'))).length > 0;
    });
    return operationId;
  };

  it('are in a directory of their own, which nobody else lists and which is gone when the build is done', async () => {
    const operationId = await held();
    const [directory = '', ...others] = await left();
    expect(others).toEqual([]);
    expect((await stat(directory)).mode & 0o777).toBe(0o711);
    await images.tools.unmark('hold');
    expect(await images.endOf({ operationId })).toMatchObject({ state: 'succeeded' });
    expect(await left()).toEqual([]);
  });

  it('are gone when the build failed', async () => {
    await images.tools.mark('fail');
    expect(await images.build()).toMatchObject({ state: 'failed', error: { code: 'IMAGE_BUILD_FAILED' } });
    expect(await left()).toEqual([]);
  });

  it('are gone when the build was cancelled, before that is said', async () => {
    const operationId = await held();
    expect(await images.call(imageOps.cancelOperation, { operationId })).toMatchObject({ state: 'cancelled' });
    expect(await left()).toEqual([]);
  });

  it('are gone when the build took too long', async () => {
    await images.stopImageService();
    await images.startImageService({ INQUEST_BUILD_TIMEOUT_MS: '1000' });
    await images.tools.mark('hold');
    expect(await images.build()).toMatchObject({ state: 'failed', error: { code: 'IMAGE_BUILD_FAILED' } });
    expect(await left()).toEqual([]);
    await images.stopImageService();
    await images.startImageService();
  });

  it('are gone when image-service was stopped', async () => {
    await held();
    await images.stopImageService();
    expect(await left()).toEqual([]);
    await images.startImageService();
  });
});
