import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { uploadBody } from './multipart';

describe('uploadBody', () => {
  let directory: string;
  let filePath: string;
  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'upload-'));
    filePath = path.join(directory, 'file');
    await writeFile(filePath, 'content');
  });
  afterEach(() => rm(directory, { recursive: true }));

  const artifact = () => ({ name: 'a.txt', filePath, sizeBytes: 7 });
  const read = async (chunks: AsyncIterable<Uint8Array>): Promise<Buffer> => {
    const parts: Uint8Array[] = [];
    for await (const chunk of chunks) parts.push(chunk);
    return Buffer.concat(parts);
  };

  it('is a form that others can read', async () => {
    const { contentType, chunks } = await uploadBody(artifact());
    const body = new Uint8Array(await read(chunks));
    const form = await new Response(body, { headers: { 'content-type': contentType } }).formData();
    const file = form.get('attachment') as File;
    expect([...form.keys()]).toEqual(['attachment']);
    expect([file.name, await file.text()]).toEqual(['a.txt', 'content']);
  });

  it.each(['gone', 'shorter'])('fails before its end when the file is %s once it is sent', async (state) => {
    const { chunks } = await uploadBody(artifact());
    await (state === 'gone' ? rm(filePath) : truncate(filePath, 3));
    await expect(read(chunks)).rejects.toMatchObject({ code: 'FORGE_ARTIFACT_UNREADABLE' });
  });

  it('is not begun for a file of another size', async () => {
    await expect(uploadBody({ ...artifact(), sizeBytes: 8 })).rejects.toMatchObject({
      code: 'FORGE_ARTIFACT_UNREADABLE',
      message: expect.stringContaining('7 bytes'),
    });
  });
});
