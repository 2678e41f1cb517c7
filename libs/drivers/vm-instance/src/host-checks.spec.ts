import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { tempDir } from '@inquest/testing';
import { checkReadable, permits } from './file-access';
import { checkHostMemory, parseAvailableMib } from './host-memory';

describe('permits', () => {
  const user = { uid: 1000, gid: 100 };
  it.each([
    [{ uid: 1000, gid: 0, mode: 0o400 }, 0o4, true],
    [{ uid: 1000, gid: 100, mode: 0o044 }, 0o4, false],
    [{ uid: 0, gid: 100, mode: 0o040 }, 0o4, true],
    [{ uid: 0, gid: 100, mode: 0o004 }, 0o4, false],
    [{ uid: 0, gid: 0, mode: 0o001 }, 0o1, true],
    [{ uid: 0, gid: 0, mode: 0o770 }, 0o1, false],
  ])('reads mode bits as the kernel does: %j asked for %o', (ownership, permission, expected) => {
    expect(permits(ownership, user, permission)).toBe(expected);
  });

  it('lets root do everything', () => {
    expect(permits({ uid: 5, gid: 5, mode: 0 }, { uid: 0, gid: 0 }, 0o4)).toBe(true);
  });
});

describe('checkReadable', () => {
  const nobody = { uid: 65534, gid: 65534 };

  it('names the directory that is in the way, then accepts the file once it is opened', async () => {
    const root = await tempDir('access');
    const closed = path.join(root.path, 'closed');
    const file = path.join(closed, 'vmlinux');
    await mkdir(closed);
    await chmod(closed, 0o700);
    await writeFile(file, 'x', { mode: 0o644 });
    await expect(checkReadable(file, nobody)).rejects.toMatchObject({
      code: 'VM_FILE_UNREADABLE',
      message: expect.stringContaining(`may not search directory ${closed}`),
    });
    await chmod(closed, 0o711);
    await expect(checkReadable(file, nobody)).resolves.toBeUndefined();
    await chmod(file, 0o600);
    await expect(checkReadable(file, nobody)).rejects.toMatchObject({
      message: expect.stringContaining('may not read'),
    });
    await root.remove();
  });

  it('says that a file is missing', async () => {
    await expect(checkReadable('/nowhere/vmlinux', nobody)).rejects.toMatchObject({
      code: 'VM_FILE_UNREADABLE',
      details: { file: '/nowhere/vmlinux' },
    });
  });
});

describe('host memory', () => {
  it.each([
    ['MemTotal: 1 kB\nMemAvailable:   2048 kB\n', 2],
    ['MemTotal: 1 kB\n', null],
    ['', null],
  ])('is read from %j', (meminfo, expected) => {
    expect(parseAvailableMib(meminfo)).toBe(expected);
  });

  it('is refused beyond the reserve, with all three figures', async () => {
    await expect(checkHostMemory(1_048_576, 512)).rejects.toMatchObject({
      code: 'VM_HOST_MEMORY_EXHAUSTED',
      details: { memoryMib: 1_048_576, reserveMib: 512, availableMib: expect.any(Number) },
    });
    await expect(checkHostMemory(1, 0)).resolves.toBeUndefined();
  });
});
