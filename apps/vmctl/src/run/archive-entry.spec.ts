import { isFitToUnpack } from './archive-entry';

describe('isFitToUnpack', () => {
  it.each([
    ['a file', 'a/b', 'File', ''],
    ['a directory', 'a', 'Directory', ''],
    ['a link beside its target', 'a/link', 'SymbolicLink', 'b'],
    ['a link to another directory of the copy', 'a/b/link', 'SymbolicLink', '../../c'],
    ['a hard link to a file of the copy', 'a/b', 'Link', 'a/c'],
  ])('takes %s', (_, name, type, linkpath) => {
    expect(isFitToUnpack(name, { type, linkpath })).toBe(true);
  });

  it.each([
    ['a link to an absolute path', 'link', 'SymbolicLink', '/etc/passwd'],
    ['a link that leads out of the copy', 'a/link', 'SymbolicLink', '../../etc'],
    ['a link that leads out by a detour', 'a/link', 'SymbolicLink', 'b/../../../etc'],
    ['a link to nothing', 'link', 'SymbolicLink', ''],
    ['a hard link that leads out', 'a/b', 'Link', '../c'],
    ['a device', 'zero', 'CharacterDevice', ''],
    ['a pipe', 'fifo', 'FIFO', ''],
  ])('leaves out %s', (_, name, type, linkpath) => {
    expect(isFitToUnpack(name, { type, linkpath })).toBe(false);
  });
});
