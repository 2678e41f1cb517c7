import fc from 'fast-check';

import { filterTree, type FilterContext } from './filter-tree';
import type { TreeEntry } from './tree';

const names = fc.oneof(
  fc.constantFrom('tmp', 'tests', 'src', 'node_modules', 'fixtures', '.venv', '.git', '..', ''),
  fc.constantFrom('test_a.py', 'a.log', '.env', 'id_rsa', 'NOTES.md', 'core', 'package.json', 'main.c', 'CACHEDIR.TAG'),
  fc.string({ maxLength: 8 }),
);

const entries: fc.Arbitrary<TreeEntry> = fc.record({
  path: fc.array(names, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/')),
  kind: fc.constantFrom('file', 'dir', 'link'),
  sizeBytes: fc.nat(),
  firstBytes: fc.option(fc.uint8Array({ maxLength: 40 }), { nil: undefined }),
  isTracked: fc.boolean(),
});

const trees = fc.uniqueArray(entries, { selector: ({ path }) => path, maxLength: 30 });

const contexts: fc.Arbitrary<FilterContext> = fc.record({
  projectRules: fc.option(
    fc.record({
      keep: fc.array(fc.record({ pattern: names, why: fc.constant(null) }), { maxLength: 3 }),
      hold: fc.array(fc.record({ pattern: names, why: fc.constant(null) }), { maxLength: 3 }),
    }),
  ),
  forceInclude: fc.array(names, { maxLength: 3 }),
  sessionFiles: fc.array(names, { maxLength: 3 }),
});

describe('filterTree on generated trees', () => {
  it('never holds a tracked path', () => {
    fc.assert(
      fc.property(trees, contexts, (tree, context) => {
        const held = new Set(filterTree(tree, context).held.map(({ path }) => path));
        expect(tree.filter(({ path, isTracked }) => isTracked && held.has(path))).toEqual([]);
      }),
    );
  });

  it('puts every path into exactly one list', () => {
    fc.assert(
      fc.property(trees, contexts, (tree, context) => {
        const { kept, held } = filterTree(tree, context);
        const paths = [...kept, ...held.map(({ path }) => path)];
        expect(paths.sort()).toEqual(tree.map(({ path }) => path).sort());
      }),
    );
  });

  it('does not depend on the order of the entries', () => {
    const shuffled = trees.chain((tree) =>
      fc.tuple(fc.constant(tree), fc.shuffledSubarray(tree, { minLength: tree.length, maxLength: tree.length })),
    );
    fc.assert(
      fc.property(shuffled, contexts, ([tree, other], context) => {
        expect(filterTree(other, context)).toEqual(filterTree(tree, context));
      }),
    );
  });

  it('gives the same result twice', () => {
    fc.assert(
      fc.property(trees, contexts, (tree, context) => {
        expect(filterTree(tree, context)).toEqual(filterTree(tree, context));
      }),
    );
  });

  it('keeps what is forced by its exact path', () => {
    fc.assert(
      fc.property(trees, contexts, (tree, context) => {
        const forceInclude = tree.map(({ path }) => path);
        const { held } = filterTree(tree, { ...context, forceInclude });
        expect(held.filter(({ rule }) => rule !== 'path/invalid')).toEqual([]);
      }),
    );
  });

  it('reads 64 KiB of hostile bytes in bounded time', () => {
    const pieces = [
      '-----BEGIN PRIVATE KEY-----',
      'ghp_',
      'sk-ant-a',
      'xoxb-',
      'AKIA',
      'sk-',
      'hooks.slack.com/services/T',
      'A',
    ];
    const startedMs = performance.now();
    for (const piece of pieces) {
      const firstBytes = new TextEncoder().encode(piece.repeat(Math.ceil(65_536 / piece.length)));
      const tree: TreeEntry[] = [
        { path: 'a.txt', kind: 'file', sizeBytes: firstBytes.length, firstBytes, isTracked: false },
      ];
      expect(filterTree(tree, { projectRules: null, forceInclude: [] }).kept).toEqual(['a.txt']);
    }
    expect(performance.now() - startedMs).toBeLessThan(15_000);
  });
});
