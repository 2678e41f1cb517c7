import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findVhostDeviceVsock, PROGRAM } from './find-vhost-device-vsock.mjs';

describe('findVhostDeviceVsock', () => {
  const { PATH } = process.env;
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'inquest-vsock-'));
    mkdirSync(path.join(root, 'bin'));
    mkdirSync(path.join(root, 'cache'));
    process.env['PATH'] = path.join(root, 'bin');
  });
  afterEach(() => {
    process.env['PATH'] = PATH;
    rmSync(root, { recursive: true });
  });

  const install = (directory: string, mode: number): string => {
    const file = path.join(root, directory, PROGRAM);
    writeFileSync(file, '', { mode });
    return file;
  };
  const find = (): Promise<string | undefined> => findVhostDeviceVsock(path.join(root, 'cache'));

  it('takes the one that the host has before the one in the cache', async () => {
    const cached = install('cache', 0o755);
    await expect(find()).resolves.toBe(cached);
    const installed = install('bin', 0o755);
    await expect(find()).resolves.toBe(installed);
  });

  it('finds none where there is none that can be run', async () => {
    install('bin', 0o644);
    await expect(find()).resolves.toBeUndefined();
  });
});
