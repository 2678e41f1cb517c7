import fc from 'fast-check';
import { isDomainError } from '@inquest/kernel';
import { RootTree, type DirectoryNode, type TreeAttributes } from './root-tree';

const ATTRIBUTES: TreeAttributes = { mode: 0o755, uid: 0, gid: 0, mtimeS: 1 };
const file = (content = '0') => ({ attributes: ATTRIBUTES, content, sizeBytes: 1 });
const unsafe = expect.objectContaining({ code: 'IMAGE_SOURCE_UNSAFE' });
const invalid = expect.objectContaining({ code: 'IMAGE_SOURCE_INVALID' });

describe('RootTree', () => {
  let tree: RootTree;
  beforeEach(() => (tree = new RootTree(100)));

  it.each(['/etc/passwd', '../etc/passwd', 'a/../../b', './../b', '..'])('refuses the path %j', (name) => {
    expect(() => tree.addFile(name, file())).toThrow(unsafe);
    expect(tree.root.children.size).toBe(0);
  });

  it.each(['a\nb', 'a\0b', 'a\ufffdb', 'x'.repeat(256), 'a/'.repeat(129), ''])('refuses the name %j', (name) => {
    expect(() => tree.addFile(name, file())).toThrow(invalid);
  });

  it('follows links within the tree, as the guest would', () => {
    tree.addDirectory('usr/bin', ATTRIBUTES);
    tree.addSymlink('bin', 'usr/bin', ATTRIBUTES);
    tree.addSymlink('up', '../../../usr', ATTRIBUTES);
    tree.addFile('bin/sh', file());
    tree.addFile('up/lib', file());
    expect(tree.find('/usr/bin/sh')?.kind).toBe('file');
    expect(tree.find('/usr/lib')?.kind).toBe('file');
    expect(tree.find('/bin/sh')).toBe(tree.find('/usr/bin/sh'));
  });

  it('replaces a link by the file of its name, and does not write through it', () => {
    tree.addSymlink('etc/passwd', '/root/secret', ATTRIBUTES);
    tree.addFile('etc/passwd', file());
    expect(tree.find('/root/secret')).toBeUndefined();
    expect(tree.find('/etc/passwd')?.kind).toBe('file');
  });

  it('refuses to put something below a file, and links that go round', () => {
    tree.addFile('a', file());
    tree.addSymlink('x', 'y', ATTRIBUTES);
    tree.addSymlink('y', 'x', ATTRIBUTES);
    expect(() => tree.addFile('a/b', file())).toThrow(invalid);
    expect(() => tree.addFile('x/b', file())).toThrow(invalid);
  });

  it('makes a hard link one node under two names, to files of the tree only', () => {
    tree.addFile('a', file());
    tree.addHardLink('b', './a');
    expect(tree.find('/b')).toBe(tree.find('/a'));
    tree.addDirectory('d', ATTRIBUTES);
    for (const target of ['d', 'nothing', '../a', '/etc/shadow']) {
      expect(() => tree.addHardLink('c', target)).toThrow(unsafe);
    }
  });

  it('removes what a layer takes away', () => {
    tree.addFile('a/b', file());
    tree.addFile('c/d', file());
    tree.remove('a/b');
    tree.clear('c');
    tree.remove('nothing/here');
    expect([tree.find('/a/b'), tree.find('/c/d'), tree.find('/c')?.kind]).toEqual([undefined, undefined, 'directory']);
  });

  it('counts the directories that it makes itself', () => {
    expect(() => {
      for (let i = 0; i < 20; i += 1) tree.addFile(`${i}/${'d/'.repeat(8)}f`, file());
    }).toThrow(invalid);
  });

  it('stays a tree of plain names, whatever an archive says', () => {
    const name = fc.array(fc.constantFrom('a', 'b', 'c', '..', '.', '', 'l'), { maxLength: 5 }).map((p) => p.join('/'));
    const step = fc.oneof(
      name.map((n) => () => tree.addFile(n, file())),
      name.map((n) => () => tree.addDirectory(n, ATTRIBUTES)),
      fc.tuple(name, name).map(
        ([n, target]) =>
          () =>
            tree.addSymlink(n, target, ATTRIBUTES),
      ),
      fc.tuple(name, name).map(
        ([n, target]) =>
          () =>
            tree.addHardLink(n, target),
      ),
      name.map((n) => () => tree.remove(n)),
      name.map((n) => () => tree.clear(n)),
      name.map((n) => () => tree.find(n)),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        tree = new RootTree(100);
        for (const take of steps) {
          try {
            take();
          } catch (e) {
            expect(isDomainError(e)).toBe(true);
          }
        }
        expect(namesIn(tree.root)).toEqual(expect.not.arrayContaining(['..', '.', '']));
      }),
      { numRuns: 500 },
    );
  });
});

/** Ends only because a tree has no circles. */
const namesIn = ({ children }: DirectoryNode): string[] =>
  [...children].flatMap(([name, node]) => [name, ...(node.kind === 'directory' ? namesIn(node) : [])]);
