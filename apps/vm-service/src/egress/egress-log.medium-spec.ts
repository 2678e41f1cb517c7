import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Logger } from '@nestjs/common';
import type { EgressRecord } from '@inquest/egress-proxy';
import { tempDir, type TempDir } from '@inquest/testing';
import { EGRESS_FILE, EgressLog } from './egress-log';

const RECORD: EgressRecord = {
  atMs: 1,
  way: 'proxy',
  connection: 1,
  verdict: 'refused',
  code: 'EGRESS_HOST_DENIED',
  message: 'no',
  host: 'denied.example',
  port: 443,
  address: null,
  isClosed: true,
  bytesUp: 0,
  bytesDown: 0,
  durationMs: 1,
};

describe('EgressLog', () => {
  let directory: TempDir;
  beforeEach(async () => void (directory = await tempDir('egress-log')));
  afterEach(() => directory.remove());

  const linesIn = async (folder: string): Promise<object[]> => {
    const content = await readFile(path.join(folder, EGRESS_FILE), 'utf8');
    return content
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
  };

  it('has one line for each record, in order, in a directory that it makes', async () => {
    const folder = path.join(directory.path, 'evidence', '1');
    const log = new EgressLog(folder);
    await Promise.all([1, 2, 3].map((connection) => log.record({ ...RECORD, connection })));
    await log.close();
    expect(await linesIn(folder)).toEqual([1, 2, 3].map((connection) => ({ ...RECORD, connection })));
  });

  it('leaves out what a guest makes faster than the disk takes it, and says how much that was', async () => {
    const log = new EgressLog(directory.path);
    await Promise.all(Array.from({ length: 1000 }, (_, at) => log.record({ ...RECORD, connection: at })));
    await log.close();
    const lines = await linesIn(directory.path);
    expect(lines).toHaveLength(257);
    expect(lines.at(-1)).toEqual({ atMs: expect.any(Number), leftOut: 744 });
  });

  it('takes nothing more once it is closed', async () => {
    const log = new EgressLog(directory.path);
    await log.record(RECORD);
    await log.close();
    await log.record(RECORD);
    await log.close();
    expect(await linesIn(directory.path)).toEqual([RECORD]);
  });

  it('holds up nobody when the disk takes nothing, and says so once', async () => {
    const file = path.join(directory.path, 'file');
    await writeFile(file, '');
    const error = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
    const log = new EgressLog(path.join(file, 'below'));
    await log.record(RECORD);
    await log.record(RECORD);
    await log.close();
    expect(error).toHaveBeenCalledTimes(1);
    error.mockRestore();
  });
});
