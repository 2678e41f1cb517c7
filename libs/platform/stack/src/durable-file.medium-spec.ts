import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findFileText, readTail, untilFile, writeFileAtomically } from './durable-file';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'inquest-file-'));
  file = path.join(directory, 'file');
});
afterEach(() => rm(directory, { recursive: true, force: true }));

describe('writeFileAtomically', () => {
  it('never shows a part: readers see the old content or the new', async () => {
    const contents = ['a', 'b'].map((letter) => letter.repeat(200_000));
    await writeFileAtomically(file, contents[0] as string);
    const writing = Promise.all(contents.map((content) => writeFileAtomically(file, content)));
    const seen = await Promise.all(Array.from({ length: 50 }, () => findFileText(file)));
    await writing;
    expect(seen.filter((text) => !contents.includes(text as string))).toEqual([]);
  });

  it('makes a file that only its owner reads', async () => {
    await writeFileAtomically(file, 'secret');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('leaves nothing behind when it cannot write', async () => {
    await chmod(directory, 0o700);
    const target = path.join(directory, 'absent', 'file');
    await expect(writeFileAtomically(target, 'x')).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await readdir(directory)).toEqual([]);
  });
});

describe('untilFile', () => {
  const never = new AbortController().signal;
  const number = (text: string | null): number | null => (text === null || text === '' ? null : Number(text));

  it('waits until the content is accepted', async () => {
    const waiting = untilFile(file, number, { timeoutMs: 15_000, signal: never });
    await writeFile(file, '');
    await writeFileAtomically(file, '42');
    expect(await waiting).toBe(42);
  });

  it('gives up at its deadline, and when it is cancelled', async () => {
    const late = untilFile(file, number, { timeoutMs: 1, signal: never });
    await expect(late).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    const controller = new AbortController();
    const cancelled = untilFile(file, number, { timeoutMs: 60_000, signal: controller.signal });
    controller.abort();
    await expect(cancelled).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
  });
});

describe('readTail', () => {
  it('gives the end of a file, all of a short one, and nothing of an absent one', async () => {
    expect(await readTail(file, 3)).toBe('');
    await writeFile(file, 'abcdef');
    expect(await readTail(file, 3)).toBe('def');
    expect(await readTail(file, 100)).toBe('abcdef');
  });
});
