import { randomBytes } from 'node:crypto';
import { readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { imageOps, UnfreezeRequest, type ImportFormat } from '@inquest/contracts-image';
import { dto, type OperationView } from '@inquest/contracts-base';
import { ImageServiceHarness, TOKEN } from '../testing/image-service-harness';
import { ImportSources, ROOT, sha256, tarOf } from '../testing/import-sources';

const MIB = 1024 * 1024;
const HOME_BYTES = 64 * MIB;
const NAME = 'imported';

// A container may be forbidden to mount; what is promised here is then not proven.
const canMount = spawnSync('unshare', [...(process.getuid?.() === 0 ? [] : ['-Ur']), '--mount', 'true']).status === 0;
const describeWithMounts = canMount ? describe : describe.skip;

describeWithMounts('image-service on a file system that has no space left', () => {
  let images: ImageServiceHarness;
  let sources: ImportSources;

  beforeAll(async () => {
    images = await ImageServiceHarness.start({}, { isProcess: true, homeBytes: HOME_BYTES });
    sources = new ImportSources(path.join(images.home, 'sources'));
    await images.build();
  }, 240_000);
  afterAll(() => images.stop(), 120_000);
  afterEach(() => free());

  const filler = (): string => images.inHome('filler');
  const free = (): Promise<void> => rm(filler(), { force: true });
  /** Takes all space but so much. */
  const leave = async (bytes: number): Promise<void> => {
    const { bavail, bsize } = await statfs(images.inHome());
    await writeFile(filler(), Buffer.alloc(Math.max(0, bavail * bsize - bytes), 1));
  };

  const upload = async (format: ImportFormat, bytes: Buffer): Promise<{ status: number; body: OperationView }> => {
    const query = new URLSearchParams({ format, digest: sha256(bytes) }).toString();
    const headers = { authorization: `Bearer ${TOKEN}` };
    const url = `${images.url}/v1/images/${NAME}/import?${query}`;
    const response = await fetch(url, { method: 'PUT', body: new Uint8Array(bytes), headers, duplex: 'half' });
    return { status: response.status, body: (await response.json()) as OperationView };
  };
  /** How the import of an upload ended: in the answer, or in the operation when the source had arrived whole. */
  const endOfUpload = async (format: ImportFormat, bytes: Buffer): Promise<unknown> => {
    const { status, body } = await upload(format, bytes);
    return status === 202 ? (await images.endOf(body)).error?.code : (body as unknown as { code: string }).code;
  };
  const expectNoLeftovers = async (): Promise<void> => {
    expect(await readdir(images.inHome('images', '.staging')).catch(() => [])).toEqual([]);
    expect(await readdir(images.inHome('image-work')).catch(() => [])).toEqual([]);
    expect(await readdir(images.inHome('images', NAME)).catch(() => [])).toEqual([]);
  };

  /** An ext4 disk whose one big file takes all of it, and packs to almost nothing. */
  const bigDisk = async (): Promise<string> => {
    await sources.write('big.tree/sbin/init', Buffer.from('#!/bin/sh\n'));
    await sources.write('big.tree/big', Buffer.alloc(30 * MIB, 'x'));
    await sources.run('mke2fs', ['-q', '-F', '-t', 'ext4', '-d', 'big.tree', 'big.ext4', '40M']);
    return 'big.ext4';
  };

  it('says so of each import that does not fit, blames no source for it, and leaves nothing', async () => {
    const packed = await sources.qcow2('big.qcow2', await bigDisk(), '-c');
    const disk = await sources.bytes(packed);
    const incompressible = await tarOf([...ROOT, { name: 'noise', content: randomBytes(24 * MIB) }]);
    const archive = gzipSync(await tarOf([...ROOT, { name: 'big', content: Buffer.alloc(30 * MIB, 'x') }]));
    await leave(16 * MIB);
    expect(await endOfUpload('raw', incompressible)).toBe('IMAGE_STORE_FULL');
    await expectNoLeftovers();
    expect(await endOfUpload('qcow2', disk)).toBe('IMAGE_STORE_FULL');
    await expectNoLeftovers();
    expect(await endOfUpload('tar', archive)).toBe('IMAGE_STORE_FULL');
    await expectNoLeftovers();
    // Its files have space, and the disk that is made of them has not.
    await free();
    await leave(44 * MIB);
    expect(await endOfUpload('tar', archive)).toBe('IMAGE_STORE_FULL');
    await expectNoLeftovers();
    const { versions } = await images.call(imageOps.show, { name: NAME });
    expect(versions.map(({ state }) => state)).toEqual(['failed', 'failed', 'failed', 'failed']);
    await free();
    expect(await endOfUpload('qcow2', disk)).toBeUndefined();
    await images.call(imageOps.remove, { name: NAME, version: versions.length + 1 });
  });

  it('keeps a version as it is when its record cannot be written, and freezes it once there is space', async () => {
    await leave(0);
    await expect(images.freeze()).resolves.toMatchObject({ state: 'failed', error: { code: 'IMAGE_STORE_FULL' } });
    const { version, state } = await images.newest();
    expect(state).toBe('smoke_ok');
    expect(await readdir(images.inHome('images', 'tiny', String(version)))).not.toContain('record.json');
    await expect(images.resolve()).rejects.toMatchObject({ code: 'IMAGE_NOT_FROZEN' });
    await free();
    await expect(images.freeze()).resolves.toMatchObject({ state: 'succeeded' });
    await expect(images.verify()).resolves.toMatchObject({ state: 'succeeded' });
  });

  it('fails a build with what the tool said, keeps the version as failed, and goes on starting machines', async () => {
    await leave(0);
    const operation = await images.build();
    expect(operation).toMatchObject({ state: 'failed' });
    expect(operation.error?.message).toMatch(/no space left/i);
    await expect(images.newest()).resolves.toMatchObject({ state: 'failed', message: operation.error?.message });
    await expect(images.resolve({ version: 1 })).resolves.toMatchObject({ version: 1 });
    await free();
    await expect(images.build()).resolves.toMatchObject({ state: 'succeeded' });
  });

  it('opens no half of a working copy', async () => {
    await leave(0);
    const reason = 'for a test';
    const unfreeze = async () =>
      images.endOf(await images.call(imageOps.unfreeze, dto(UnfreezeRequest, { name: 'tiny', reason })));
    await expect(unfreeze()).resolves.toMatchObject({ state: 'failed', error: { code: 'IMAGE_STORE_FULL' } });
    await expect(images.call(imageOps.show, { name: 'tiny' })).resolves.toMatchObject({ isUnfrozen: false });
    await free();
    await expect(unfreeze()).resolves.toMatchObject({ state: 'succeeded' });
  });
});
