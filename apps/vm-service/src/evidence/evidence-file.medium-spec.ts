import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { EVIDENCE_CHUNK_BYTES, EVIDENCE_FILES } from '@inquest/contracts-vm';
import { tempDir, type TempDir } from '@inquest/testing';
import { BUNDLE_FILES } from '@inquest/verdict-engine';
import { readTextPart } from './evidence-file';

/** NATS refuses a message beyond this. */
const MESSAGE_MAX_BYTES = 1024 * 1024;

describe('readTextPart', () => {
  let directory: TempDir;
  let file: string;
  beforeEach(async () => {
    directory = await tempDir('evidence');
    file = path.join(directory.path, 'serial.log');
  });
  afterEach(() => directory.remove());

  it('gives a long file in parts that put together are its text, also where a part ends inside a character', async () => {
    // Three bytes each, so that parts of a power of two end inside one.
    const text = '€'.repeat(EVIDENCE_CHUNK_BYTES);
    await writeFile(file, text);
    let read = '';
    let parts = 0;
    for (let offset = 0; ; parts++) {
      const part = await readTextPart(file, offset);
      expect(part.sizeBytes).toBe(3 * EVIDENCE_CHUNK_BYTES);
      if (part.text === '') break;
      read += part.text;
      offset = part.nextOffset;
    }
    expect(read).toBe(text);
    expect(parts).toBe(4);
  });

  it('goes on through bytes that are no text', async () => {
    await writeFile(file, Buffer.alloc(EVIDENCE_CHUNK_BYTES + 10, 0x80));
    const first = await readTextPart(file, 0);
    expect(first.nextOffset).toBeGreaterThan(0);
    const last = await readTextPart(file, first.nextOffset);
    expect(last.nextOffset).toBe(EVIDENCE_CHUNK_BYTES + 10);
  });

  it('fits into a message whatever a guest writes', async () => {
    await writeFile(file, Buffer.alloc(2 * EVIDENCE_CHUNK_BYTES));
    const { text } = await readTextPart(file, 0);
    expect(text).toHaveLength(EVIDENCE_CHUNK_BYTES);
    expect(JSON.stringify(text).length).toBeLessThan(MESSAGE_MAX_BYTES);
  });

  it('gives nothing beyond the end, and nothing of a file that was never written', async () => {
    await writeFile(file, 'boot');
    expect(await readTextPart(file, 4)).toEqual({ text: '', nextOffset: 4, sizeBytes: 4 });
    const beyond = Number.MAX_SAFE_INTEGER;
    expect(await readTextPart(file, beyond)).toEqual({ text: '', nextOffset: beyond, sizeBytes: 4 });
    const absent = path.join(directory.path, 'serial.tail.log');
    expect(await readTextPart(absent, 7)).toEqual({ text: '', nextOffset: 7, sizeBytes: 0 });
  });
});

describe('the contract', () => {
  it('names every file of a bundle, so that all a verdict rests on can be read', () => {
    expect(EVIDENCE_FILES).toEqual(expect.arrayContaining(Object.values(BUNDLE_FILES)));
  });
});
