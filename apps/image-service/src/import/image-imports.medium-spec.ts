import { readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { imageOps, ImportImageRequest, UploadImageRequest, type ImportFormat } from '@inquest/contracts-image';
import { dto, type OperationView } from '@inquest/contracts-base';
import { eventually } from '@inquest/testing';
import { ImageServiceHarness, TOKEN } from '../testing/image-service-harness';
import { askDisk, digestOfFile, ImportSources, ROOT, sha256, tarOf, type TarEntry } from '../testing/import-sources';

const MIB = 1024 * 1024;
const MAX_BYTES = 32 * MIB;
const NAME = 'imported';

describe('an import', () => {
  let images: ImageServiceHarness;
  let sources: ImportSources;

  beforeAll(async () => {
    images = await ImageServiceHarness.start({ INQUEST_IMAGE_MAX_BYTES: String(MAX_BYTES) });
    sources = new ImportSources(path.join(images.home, 'imports'));
    await sources.ext4('root.ext4');
    await sources.qcow2('root.qcow2', 'root.ext4');
  }, 120_000);
  afterAll(() => images.stop(), 60_000);

  const importPath = async (
    format: ImportFormat,
    source: string,
    more: Partial<ImportImageRequest> = {},
  ): Promise<OperationView> => {
    const digest = more.digest ?? (await digestOfFile(sources.at(source)));
    const request = dto(ImportImageRequest, { name: NAME, format, path: source, ...more, digest });
    return images.endOf(await images.call(imageOps.import, request));
  };
  const newest = async () => (await images.call(imageOps.show, { name: NAME })).versions[0];
  const newestDisk = async () => path.join(images.home, 'images', NAME, String((await newest())?.version), 'disk.raw');
  const placed = () => readdir(path.join(images.home, 'images', NAME)).catch((): string[] => []);
  const importTar = async (entries: readonly TarEntry[], more: Partial<ImportImageRequest> = {}) => {
    await sources.write('root.tar', await tarOf(entries));
    return importPath('tar', 'root.tar', { diskBytes: 16 * MIB, ...more });
  };

  /** Nothing of a refused source is placed or left anywhere, and the version says why. */
  const refused = async (operation: Promise<OperationView>, code: string): Promise<void> => {
    const before = await placed();
    const { state, error } = await operation;
    expect([state, error?.code]).toEqual(['failed', code]);
    await expect(newest()).resolves.toMatchObject({ state: 'failed', message: error?.message });
    expect(await placed()).toEqual(before);
    expect(await readdir(path.join(images.home, 'image-work'))).toEqual([]);
  };

  it.each<[format: ImportFormat, source: () => Promise<string>]>([
    ['ext4', () => Promise.resolve('root.ext4')],
    ['raw', () => Promise.resolve('root.ext4')],
    ['qcow2', () => Promise.resolve('root.qcow2')],
    ['qcow2', () => sources.qcow2('compressed.qcow2', 'root.ext4', '-c')],
    [
      'raw',
      async () => sources.partitioned('partitioned.raw', Buffer.alloc(MIB), await readFile(sources.at('root.ext4'))),
    ],
  ])('of %s makes a version with the file system of the source', async (format, source) => {
    await expect(importPath(format, await source())).resolves.toMatchObject({ state: 'succeeded' });
    await expect(newest()).resolves.toMatchObject({
      state: 'built',
      origin: 'import',
      parentVersion: null,
      sizeBytes: 8 * MIB,
      kernelVersion: '6.1.0-test',
    });
    expect(await askDisk(await newestDisk(), 'cat /sbin/init')).toContain('#!/bin/sh');
  });

  it('of a tar keeps owners, modes, times, links and strange names', async () => {
    const mtime = new Date('2020-02-03T04:05:06Z');
    const operation = await importTar([
      ...ROOT,
      { name: './bin', type: 'symlink', linkname: 'sbin' },
      { name: './bin/tool', mode: 0o4755, uid: 70_000, gid: 5, mtime, content: 'tool' },
      { name: './sbin/other', type: 'link', linkname: './sbin/tool' },
      { name: './secret', mode: 0o020, uid: 1000, gid: 1000, content: 'x' },
      { name: './a "quoted" näme', content: 'y' },
    ]);
    expect(operation).toMatchObject({ state: 'succeeded', error: null });
    const disk = await newestDisk();
    const tool = await askDisk(disk, 'stat /sbin/tool');
    expect(tool).toMatch(/Mode: +04755[^]*User: 70000 +Group: +5/);
    expect(tool).toMatch(/Links: 2/);
    expect(tool).toMatch(/mtime: 0x5e379bf2/);
    expect(await askDisk(disk, 'stat /secret')).toMatch(/Mode: +0020[^]*User: +1000 +Group: +1000/);
    expect(await askDisk(disk, 'cat "/a ""quoted"" näme"')).toContain('y');
    expect(await askDisk(disk, 'stat /bin')).toContain('Fast link dest: "sbin"');
  });

  it('of an OCI layout lays the layers over one another', async () => {
    const digest = await sources.oci(
      'layout',
      [
        ...ROOT,
        { name: 'etc/gone', content: '1' },
        { name: 'var/cache/old', content: '2' },
        { name: 'etc/kept', content: '3' },
      ],
      [{ name: 'etc/.wh.gone' }, { name: 'var/cache/.wh..wh..opq' }, { name: 'var/cache/new', content: '4' }],
    );
    const options = { digest, diskBytes: 16 * MIB };
    await expect(importPath('oci', 'layout', options)).resolves.toMatchObject({ state: 'succeeded' });
    const disk = await newestDisk();
    expect(await askDisk(disk, 'ls /etc')).toMatch(/kept/);
    expect(await askDisk(disk, 'ls /etc')).not.toMatch(/gone/);
    expect(await askDisk(disk, 'ls /var/cache')).toMatch(/new/);
    expect(await askDisk(disk, 'ls /var/cache')).not.toMatch(/old/);
  });

  it('of an OCI layout refuses a blob that is not what points to it', async () => {
    const digest = await sources.oci('forged', ROOT);
    const blobs = sources.at('forged/blobs/sha256');
    for (const name of await readdir(blobs)) {
      if (!digest.endsWith(name))
        await writeFile(path.join(blobs, name), gzipSync(await tarOf([...ROOT, { name: 'evil' }])));
    }
    await refused(importPath('oci', 'forged', { digest, diskBytes: 16 * MIB }), 'IMAGE_SOURCE_DIGEST_WRONG');
  });

  it('with the wrong digest is refused, naming both', async () => {
    const digest = `sha256:${'0'.repeat(64)}`;
    const operation = importPath('ext4', 'root.ext4', { digest });
    await refused(operation, 'IMAGE_SOURCE_DIGEST_WRONG');
    expect((await operation).error?.message).toContain(digest);
    expect((await operation).error?.message).toContain(await digestOfFile(sources.at('root.ext4')));
  });

  it('of a qcow2 with a backing file or a data file never opens that file', async () => {
    await sources.write('host-secret', Buffer.alloc(MIB, 'secret'));
    await sources.run('qemu-img', [
      'create',
      '-q',
      '-f',
      'qcow2',
      '-F',
      'raw',
      '-b',
      sources.at('host-secret'),
      'backed.qcow2',
    ]);
    await refused(importPath('qcow2', 'backed.qcow2'), 'IMAGE_SOURCE_UNSAFE');
    const external = `data_file=${sources.at('external.raw')},data_file_raw=on`;
    await sources.run('qemu-img', ['create', '-q', '-f', 'qcow2', '-o', external, 'external.qcow2', '1M']);
    await refused(importPath('qcow2', 'external.qcow2'), 'IMAGE_SOURCE_UNSAFE');
  });

  it.each<[what: string, format: ImportFormat, code: string, make: () => Promise<string>]>([
    ['a truncated qcow2', 'qcow2', 'IMAGE_SOURCE_INVALID', async () => cut('cut.qcow2', 'root.qcow2')],
    ['a truncated file system', 'ext4', 'IMAGE_SOURCE_INVALID', async () => cut('cut.ext4', 'root.ext4')],
    ['a file system that is called a qcow2', 'qcow2', 'IMAGE_SOURCE_INVALID', async () => 'root.ext4'],
    ['a qcow2 that is called a raw disk', 'raw', 'IMAGE_SOURCE_INVALID', async () => 'root.qcow2'],
    [
      'an archive that is called ext4',
      'ext4',
      'IMAGE_SOURCE_INVALID',
      async () => sources.write('t.tar', await tarOf(ROOT)),
    ],
    [
      'a truncated tar',
      'tar',
      'IMAGE_SOURCE_INVALID',
      async () => sources.write('t', (await tarOf(ROOT)).subarray(0, 1100)),
    ],
    [
      'a tar without an init',
      'tar',
      'IMAGE_SOURCE_INVALID',
      async () => sources.write('t', await tarOf([{ name: 'a' }])),
    ],
    [
      'a disk with two roots',
      'raw',
      'IMAGE_SOURCE_INVALID',
      async () => {
        const root = await readFile(sources.at('root.ext4'));
        return sources.partitioned('two.raw', root, root);
      },
    ],
    ['a disk with no root', 'raw', 'IMAGE_SOURCE_INVALID', () => sources.partitioned('none.raw', Buffer.alloc(MIB))],
    [
      'a qcow2 whose disk is larger than the limit',
      'qcow2',
      'IMAGE_SOURCE_OVERSIZED',
      async () => {
        await sources.run('qemu-img', ['create', '-q', '-f', 'qcow2', 'huge.qcow2', '1T']);
        return 'huge.qcow2';
      },
    ],
    [
      'a source larger than the limit',
      'raw',
      'IMAGE_SOURCE_OVERSIZED',
      async () => {
        await sources.write('large.raw', Buffer.alloc(0));
        await truncate(sources.at('large.raw'), MAX_BYTES + 1);
        return 'large.raw';
      },
    ],
    [
      'a tar bomb',
      'tar',
      'IMAGE_SOURCE_OVERSIZED',
      async () =>
        sources.write('bomb', gzipSync(await tarOf([...ROOT, { name: 'bomb', content: Buffer.alloc(40 * MIB) }]))),
    ],
    [
      'a bomb of nothing but padding',
      'tar',
      'IMAGE_SOURCE_OVERSIZED',
      () => sources.write('zeros', gzipSync(Buffer.alloc(100 * MIB))),
    ],
  ])('of %s is refused', async (_what, format, code, make) => {
    await refused(importPath(format, await make()), code);
  });

  const cut = async (name: string, source: string): Promise<string> => {
    const whole = await readFile(sources.at(source));
    return sources.write(name, whole.subarray(0, Math.floor(whole.length / 2)));
  };

  it.each<[what: string, entry: TarEntry]>([
    ['a path that climbs', { name: '../../outside', content: 'x' }],
    ['an absolute path', { name: '/etc/cron.d/evil', content: 'x' }],
    ['a device node', { name: 'dev/sda', type: 'block-device', devmajor: 8, devminor: 0 }],
    ['a character device', { name: 'dev/mem', type: 'character-device', devmajor: 1, devminor: 1 }],
    ['a fifo', { name: 'run/fifo', type: 'fifo' }],
    ['a hard link out of the tree', { name: 'shadow', type: 'link', linkname: '../../../etc/shadow' }],
    ['a hard link to the host', { name: 'shadow', type: 'link', linkname: '/etc/shadow' }],
  ])('of a tar with %s is refused', async (_what, entry) => {
    await refused(importTar([...ROOT, entry]), 'IMAGE_SOURCE_UNSAFE');
  });

  it('of a tar that does not fit into the disk that was asked for is refused', async () => {
    const content = Buffer.alloc(20 * MIB, 'x');
    await refused(importTar([...ROOT, { name: 'big', content }]), 'IMAGE_SOURCE_INVALID');
  });

  it('of a tar writes nothing through its links', async () => {
    const victim = path.join(images.home, 'victim');
    const operation = await importTar([
      ...ROOT,
      { name: 'out', type: 'symlink', linkname: images.home },
      { name: 'out/victim', content: 'written' },
    ]);
    expect(operation.state).toBe('succeeded');
    await expect(readFile(victim)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await askDisk(await newestDisk(), `cat ${victim}`)).toContain('written');
  });

  it.each(['/etc/passwd', '../home', '../../etc/passwd', 'nothing', '.', 'link-out'])(
    'from the path %j, which is not in the import directory, is refused at once',
    async (source) => {
      await symlink('/etc/passwd', sources.at('link-out')).catch(() => undefined);
      const before = await newest();
      const digest = `sha256:${'0'.repeat(64)}`;
      const request = dto(ImportImageRequest, { name: NAME, format: 'raw', path: source, digest });
      await expect(images.call(imageOps.import, request)).rejects.toMatchObject({ code: 'IMAGE_SOURCE_UNREACHABLE' });
      await expect(newest()).resolves.toEqual(before);
    },
  );

  describe('by upload', () => {
    const put = async (url: string, body: string | Uint8Array, token: string | null = TOKEN) => {
      const headers = token === null ? {} : { authorization: `Bearer ${token}` };
      const response = await fetch(url, { method: 'PUT', body, headers, duplex: 'half' });
      return { status: response.status, body: (await response.json()) as OperationView & { code: string } };
    };
    const address = (query: Record<string, string>) =>
      `${images.url}/v1/images/${NAME}/import?${new URLSearchParams(query).toString()}`;

    it('answers with the operation once the source is here, and goes on by itself', async () => {
      const bytes = await readFile(sources.at('root.qcow2'));
      const answer = await put(address({ format: 'qcow2', digest: sha256(bytes) }), new Uint8Array(bytes));
      expect(answer).toMatchObject({ status: 202, body: { kind: 'image.import' } });
      await expect(images.endOf(answer.body)).resolves.toMatchObject({ state: 'succeeded' });
    });

    it('goes to an address that was handed out, which takes no token and nothing else', async () => {
      const bytes = await readFile(sources.at('root.ext4'));
      const declared = { name: NAME, format: 'ext4', digest: sha256(bytes) } as const;
      const { url } = await images.call(imageOps.openUpload, dto(UploadImageRequest, declared));
      const forged = await put(url.replace('format=ext4', 'format=raw'), new Uint8Array(bytes), null);
      expect(forged).toMatchObject({ status: 403, body: { code: 'HTTP_SIGNATURE_REFUSED' } });
      const answer = await put(url, new Uint8Array(bytes), null);
      expect(answer.status).toBe(202);
      await expect(images.endOf(answer.body)).resolves.toMatchObject({ state: 'succeeded' });
    });

    it('takes an OCI layout as the tar of one', async () => {
      const digest = await sources.oci('upload', ROOT);
      await sources.run('tar', ['-C', 'upload', '-cf', 'upload.tar', '.']);
      const bytes = new Uint8Array(await readFile(sources.at('upload.tar')));
      const answer = await put(address({ format: 'oci', digest, diskBytes: String(16 * MIB) }), bytes);
      expect(answer.status).toBe(202);
      await expect(images.endOf(answer.body)).resolves.toMatchObject({ state: 'succeeded' });
    });

    it('of the wrong bytes, or too many, is answered with the refusal', async () => {
      const wrong = await put(address({ format: 'raw', digest: `sha256:${'0'.repeat(64)}` }), 'bytes');
      expect(wrong).toMatchObject({ status: 422, body: { code: 'IMAGE_SOURCE_DIGEST_WRONG' } });
      const large = await put(
        address({ format: 'raw', digest: sha256(Buffer.alloc(0)) }),
        new Uint8Array(MAX_BYTES + 1),
      );
      expect(large).toMatchObject({ status: 413, body: { code: 'IMAGE_SOURCE_OVERSIZED' } });
    });

    it('that is broken off fails, and leaves nothing', async () => {
      const hangUp = new AbortController();
      const body = new ReadableStream({
        start: (stream) => stream.enqueue(new Uint8Array(MIB)),
      });
      const url = address({ format: 'raw', digest: sha256(Buffer.alloc(0)) });
      const before = await newest();
      const request = fetch(url, {
        method: 'PUT',
        body,
        duplex: 'half',
        signal: hangUp.signal,
        headers: { authorization: `Bearer ${TOKEN}` },
      });
      await eventually(async () => (await newest())?.version !== before?.version);
      hangUp.abort();
      await expect(request).rejects.toThrow();
      await eventually(async () => (await newest())?.state === 'failed');
      await expect(newest()).resolves.toMatchObject({ message: expect.stringContaining('broke') });
      await eventually(async () => (await readdir(path.join(images.home, 'image-work'))).length === 0);
    });

    it('that says nothing any more can be cancelled', async () => {
      const body = new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(MIB)) });
      const url = address({ format: 'raw', digest: sha256(Buffer.alloc(0)) });
      const before = await newest();
      const request = fetch(url, {
        method: 'PUT',
        body,
        duplex: 'half',
        headers: { authorization: `Bearer ${TOKEN}` },
      });
      request.catch(() => undefined);
      await eventually(async () => (await newest())?.version !== before?.version);
      const operationId = await images
        .call(
          imageOps.import,
          dto(ImportImageRequest, { name: NAME, format: 'raw', path: 'root.ext4', digest: sha256(Buffer.alloc(0)) }),
        )
        .then(
          () => '',
          (e: { details: { operation: string } }) => e.details.operation,
        );
      await expect(images.call(imageOps.cancelOperation, { operationId })).resolves.toMatchObject({
        state: 'cancelled',
      });
      await expect(newest()).resolves.toMatchObject({ state: 'failed', message: expect.stringContaining('cancelled') });
    });
  });
});
