import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { tempDir } from '@inquest/testing';
import { findOutsideLinks } from './outside-links';

describe('findOutsideLinks', () => {
  it('names the links that a guest would not find where the host does, at any depth, and follows none', async () => {
    const root = await tempDir('links');
    const below = path.join(root.path, 'a', 'b');
    await mkdir(below, { recursive: true });
    await writeFile(path.join(below, 'text'), '');
    await symlink('text', path.join(below, 'beside'));
    await symlink('../../a', path.join(below, 'loop'));
    await symlink('../..', path.join(below, 'root'));
    await symlink('nowhere', path.join(root.path, 'broken'));
    await symlink('../../../secret', path.join(below, 'above'));
    await symlink('/etc/passwd', path.join(root.path, 'absolute'));
    await symlink(`../${path.basename(root.path)}x`, path.join(root.path, 'sibling'));
    const { namedLinks, ...found } = await findOutsideLinks(root.path);
    expect(found).toEqual({ outsideLinks: 3, isFullyLookedAt: true });
    expect(namedLinks.sort()).toEqual(['a/b/above', 'absolute', 'sibling']);
    await root.remove();
  });

  it('counts more than it names', async () => {
    const root = await tempDir('links');
    await Promise.all(Array.from({ length: 25 }, (_, at) => symlink('/', path.join(root.path, `link-${at}`))));
    const { outsideLinks, namedLinks } = await findOutsideLinks(root.path);
    expect({ outsideLinks, named: namedLinks.length }).toEqual({ outsideLinks: 25, named: 20 });
    await root.remove();
  });

  it('says of a directory that cannot be read that it was not looked at', async () => {
    await expect(findOutsideLinks('/nowhere')).resolves.toMatchObject({ outsideLinks: 0, isFullyLookedAt: false });
  });
});
