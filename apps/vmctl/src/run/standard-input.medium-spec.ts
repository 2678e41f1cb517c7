import { createReadStream } from 'node:fs';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { tempDir, type TempDir } from '@inquest/testing';
import { isInputWanted, withInput } from './standard-input';

describe('isInputWanted', () => {
  let directory: TempDir;
  beforeAll(async () => {
    directory = await tempDir('input');
  });
  afterAll(() => directory.remove());

  /** A stream with the descriptor of an open file, as standard input has. */
  const opened = async (file: string): Promise<Readable & { readonly fd: number }> => {
    const stream = createReadStream(file);
    const [fd] = (await once(stream, 'open')) as [number];
    return Object.assign(stream, { fd });
  };

  it('is true for a file', async () => {
    const file = path.join(directory.path, 'script.sh');
    await writeFile(file, 'true\n');
    const stdin = await opened(file);
    expect(await isInputWanted(stdin, undefined)).toBe(true);
    stdin.destroy();
  });

  it('is false for a device such as /dev/null, unless it is asked for', async () => {
    const stdin = await opened('/dev/null');
    expect(await isInputWanted(stdin, undefined)).toBe(false);
    expect(await isInputWanted(stdin, true)).toBe(true);
    stdin.destroy();
  });

  it('is false for whatever there is when it is not wanted', async () => {
    expect(await isInputWanted(Readable.from(['x']), false)).toBe(false);
  });

  it('is false for a standard input that was closed', async () => {
    const stdin = Object.assign(Readable.from([]), { fd: 1_000_000 });
    expect(await isInputWanted(stdin, undefined)).toBe(false);
  });
});

describe('withInput', () => {
  it('puts the request on the first line and the input behind it, as it is', async () => {
    const body = withInput({ command: 'cat\n' }, Readable.from([Buffer.from('a\nb')]));
    expect(await text(body)).toBe('{"command":"cat\\n"}\na\nb');
  });

  it('breaks off when the input does, instead of passing for a whole one', async () => {
    const broken = new Readable({ read: () => undefined });
    const body = withInput({ command: 'cat' }, broken);
    broken.destroy(new Error('EIO'));
    await expect(text(body)).rejects.toThrow('EIO');
  });
});
