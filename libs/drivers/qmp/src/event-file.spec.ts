import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { tempDir, type TempDir } from '@inquest/testing';
import { readEventFile } from './event-file';

describe('readEventFile', () => {
  let directory: TempDir;
  let file: string;
  beforeEach(async () => {
    directory = await tempDir('event-file');
    file = path.join(directory.path, 'events.qmp');
  });
  afterEach(() => directory.remove());

  const names = async (): Promise<string[]> => {
    const found: string[] = [];
    for await (const { name } of readEventFile(file)) found.push(name);
    return found;
  };
  const event = (name: string): string =>
    JSON.stringify({ timestamp: { seconds: 1, microseconds: 2 }, event: name, data: {} });

  it('gives the events of a monitor in order, and nothing else that it sent', async () => {
    const greeting = '{"QMP": {"version": {"qemu": {"micro": 22, "minor": 2, "major": 7}}, "capabilities": ["oob"]}}';
    await writeFile(file, [greeting, '{"return": {}}', event('RESUME'), '', event('SHUTDOWN'), ''].join('\r\n'));
    await expect(names()).resolves.toEqual(['RESUME', 'SHUTDOWN']);
  });

  it('passes over a line that was cut and what is not QMP', async () => {
    await writeFile(file, `nonsense\n${event('STOP')}\n[1]\n${event('RESUME').slice(0, 20)}`);
    await expect(names()).resolves.toEqual(['STOP']);
  });

  it('reads a long file in pieces and ends at a line that no monitor sends', async () => {
    const many = Array.from({ length: 5000 }, (_, at) => event(`E${at}`));
    await writeFile(file, [...many, 'x'.repeat(1024 * 1024 + 1), event('LATE'), ''].join('\n'));
    const found = await names();
    expect(found).toHaveLength(5000);
    expect(found.at(-1)).toBe('E4999');
  });

  it('throws when there is no such file', async () => {
    await expect(names()).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
