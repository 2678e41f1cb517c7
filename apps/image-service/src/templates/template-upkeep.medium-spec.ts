import { imageOps, ImageVersionRequest } from '@inquest/contracts-image';
import { dto } from '@inquest/contracts-base';
import { vmError } from '@inquest/contracts-vm';
import { eventually } from '@inquest/testing';
import type { FakeVmService } from '@inquest/vm-client/testing';
import { OperationEntity } from '../operations/operation.entity';
import { ImageServiceHarness } from '../testing/image-service-harness';

/** Looks so often that a test need not wait, and rarely enough for what comes between two looks to be seen. */
const INTERVAL_MS = 100;
const MAX_TRIES = 3;

describe('the template of a frozen version', () => {
  let images: ImageServiceHarness;
  let version: number;
  let key: string;
  /** Operations that earlier tests left. */
  let known: number;

  beforeAll(async () => {
    images = await ImageServiceHarness.start({ INQUEST_TEMPLATE_INTERVAL_MS: String(INTERVAL_MS) });
    ({ version } = await images.makeFrozen());
    key = `tiny:${version}`;
  }, 120_000);
  afterAll(() => images.stop(), 60_000);
  beforeEach(async () => {
    known = 0;
    known = (await operations()).length;
  });

  const operations = async () => {
    const rows = images.database.getRepository(OperationEntity);
    return (await rows.find({ where: { kind: 'image.template' }, order: { startedAt: 'ASC' } })).slice(known);
  };
  const ended = (count: number) =>
    eventually(async () => {
      const all = await operations();
      expect(all.map(({ state }) => state !== 'running')).toEqual(Array.from({ length: count }, () => true));
      return all;
    });
  /** Resolves when image-service has looked that often again. */
  const looks = (count: number) => {
    const { calls } = images.vm;
    const seen = calls.length;
    return eventually(() => calls.slice(seen).filter((call) => call === 'templateState').length >= count);
  };
  const ask = () => images.call(imageOps.makeTemplate, dto(ImageVersionRequest, { name: 'tiny', version }));
  const shown = async () => (await images.call(imageOps.showVersion, { name: 'tiny', version })).templates;
  const stateNow = async () => (await shown()).map(({ node, state }) => `${node} ${state}`).sort();
  const logOf = async () =>
    (await images.call(imageOps.log, { name: 'tiny', version, fromOffset: 0 })).text.match(/^.*template.*$/gm) ?? [];

  it.each([
    ['outdated', (vm: FakeVmService) => void vm.unfitTemplates.set(key, 'outdated')],
    ['damaged', (vm: FakeVmService) => void vm.unfitTemplates.set(key, 'damaged')],
    ['missing', (vm: FakeVmService) => void vm.templates.delete(key)],
  ])('is made anew by itself, once, where it is %s, as an operation that can be watched', async (_, spoil) => {
    const makings = () => images.vm.calls.filter((call) => call === 'makeTemplate').length;
    const before = makings();
    spoil(images.vm);
    const [made] = await ended(1);
    await expect(images.endOf({ operationId: made?.operationId ?? '' })).resolves.toMatchObject({
      kind: 'image.template',
      subject: key,
      state: 'succeeded',
    });
    await looks(2);
    expect(makings()).toBe(before + 1);
    expect((await logOf()).at(-1)).toMatch(/template on node fake: made/);
  });

  it('is shown with the image and with the version, and why machines boot', async () => {
    let goOn: () => void = () => undefined;
    images.vm.duringTemplate = () => new Promise((resolve) => (goOn = resolve));
    images.vm.unfitTemplates.set(key, 'outdated');
    const seen = { node: 'fake', state: 'outdated', detail: 'it is outdated' };
    await expect(images.call(imageOps.show, { name: 'tiny' })).resolves.toMatchObject({ templates: [seen] });
    await expect(shown()).resolves.toEqual([seen]);
    await eventually(async () => expect(await operations()).toHaveLength(1));
    images.vm.duringTemplate = () => Promise.resolve();
    goOn();
    await ended(1);
    await expect(stateNow()).resolves.toEqual(['fake ready']);
  });

  it('that cannot be made is tried three times, with longer and longer pauses, and then when somebody asks', async () => {
    for (let failures = 0; failures < MAX_TRIES; failures++) {
      images.vm.failNext('makeTemplate', vmError('TEMPLATE_NOT_MADE', 'the disk is full'));
    }
    images.vm.templates.delete(key);
    await eventually(async () => expect((await logOf()).at(-1)).toMatch(/no template after 3 tries/));
    const tries = await operations();
    expect(tries.map(({ state, error }) => [state, error?.code])).toEqual(
      Array.from({ length: MAX_TRIES }, () => ['failed', 'TEMPLATE_NOT_MADE']),
    );
    const [first = 0, second = 0, third = 0] = tries.map(({ startedAt }) => startedAt.getTime());
    expect(second - first).toBeGreaterThanOrEqual(2 * INTERVAL_MS);
    expect(third - second).toBeGreaterThanOrEqual(4 * INTERVAL_MS);
    await looks(3);
    await expect(operations()).resolves.toHaveLength(MAX_TRIES);
    await expect(images.endOf(await ask())).resolves.toMatchObject({ state: 'succeeded', subject: key });
    await expect(stateNow()).resolves.toEqual(['fake ready']);
  });

  it('waits for work on the image that is under way, which is no try', async () => {
    await images.tools.mark('hold');
    const { operationId } = await images.call(imageOps.build, { name: 'tiny' });
    images.vm.templates.delete(key);
    await looks(2);
    await expect(operations()).resolves.toEqual([]);
    await images.call(imageOps.cancelOperation, { operationId });
    await images.tools.unmark('hold');
    expect((await ended(1)).map(({ state }) => state)).toEqual(['succeeded']);
  });

  it('is made by one operation for two who ask at the same time; the other is told which', async () => {
    let goOn: () => void = () => undefined;
    images.vm.duringTemplate = () => new Promise((resolve) => (goOn = resolve));
    const { operationId } = await ask();
    await expect(ask()).rejects.toMatchObject({ code: 'IMAGE_BUSY', details: { operation: operationId } });
    images.vm.duringTemplate = () => Promise.resolve();
    await eventually(() => images.vm.calls.at(-1) !== 'nodes');
    goOn();
    await expect(images.endOf({ operationId })).resolves.toMatchObject({ state: 'succeeded' });
  });

  it('of a version that is not frozen, or not there, is refused', async () => {
    const asked = images.call(imageOps.makeTemplate, dto(ImageVersionRequest, { name: 'tiny', version: 999 }));
    await expect(asked).rejects.toMatchObject({ code: 'IMAGE_UNKNOWN' });
  });

  it('is made on the node that lacks one; a failure there fails the operation, not the other node', async () => {
    const other = await images.startNode('other');
    other.failNext('makeTemplate', vmError('TEMPLATE_NOT_MADE', 'the disk is full'));
    images.vm.unfitTemplates.set(key, 'outdated');
    const states = (await ended(2)).map(({ state }) => state);
    expect(states).toEqual(['failed', 'succeeded']);
    await expect(stateNow()).resolves.toEqual(['fake ready', 'other ready']);
    await other.stop();
  });

  it('is made after a restart of image-service in the middle of it', async () => {
    let isHeld = false;
    images.vm.duringTemplate = () => {
      isHeld = true;
      return new Promise(() => undefined);
    };
    images.vm.templates.delete(key);
    await eventually(() => isHeld);
    await images.stopImageService();
    images.vm.duringTemplate = () => Promise.resolve();
    await images.startImageService();
    const states = (await ended(2)).map(({ state }) => state);
    expect(states).toEqual(['cancelled', 'succeeded']);
    await expect(stateNow()).resolves.toEqual(['fake ready']);
  });
});
