import { compilePathGlob, matchesName, matchesPath } from './glob';

describe('matchesName', () => {
  it.each([
    ['a.log', '*.log', true],
    ['.log', '*.log', true],
    ['a.logs', '*.log', false],
    ['test_a_b.py', 'test_*.py', true],
    ['abab', '*ab', true],
    ['ab', 'a?', true],
    ['a', 'a?', false],
    ['', '*', true],
    ['', '', true],
    ['a', '', false],
    ['a*b', 'a*b', true],
    ['core.12', 'core.1*', true],
  ])('%j against %j is %s', (name, pattern, expected) => {
    expect(matchesName(name, pattern)).toBe(expected);
  });
});

describe('matchesPath', () => {
  it.each([
    ['a/b/x.map', '*.map', true],
    ['x.map', '*.map', true],
    ['a/b/x.map', 'a/*.map', false],
    ['a/x.map', 'a/*.map', true],
    ['a/b/c/x', 'a/**/x', true],
    ['a/x', 'a/**/x', true],
    ['a/b/c', '**', true],
    ['dumps/1.bin', 'dumps/', true],
    ['deep/dumps/1.bin', 'dumps/', true],
    ['deep/dumps/1.bin', 'deep/dumps/', true],
    ['other/deep/dumps/1.bin', 'deep/dumps/', false],
    ['dump', 'dumps/', false],
    ['a/b', 'a/b/c', false],
  ])('%j against %j is %s', (path, pattern, expected) => {
    expect(matchesPath(path, compilePathGlob(pattern))).toBe(expected);
  });

  it('takes no exponential time for many wildcards', () => {
    const startedMs = performance.now();
    expect(matchesName('a'.repeat(4096), `${'*a'.repeat(100)}b`)).toBe(false);
    expect(matchesPath('a/'.repeat(2000), compilePathGlob(`${'**/a/'.repeat(60)}b`))).toBe(false);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });
});
