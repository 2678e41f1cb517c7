import { buildSources, sourceDigest } from './source-digest.mjs';

const APP = 'apps/maintenance';

describe('buildSources', () => {
  const sources = buildSources(APP);

  it('has what the app is made of, with the libraries that it needs through others', () => {
    expect(sources).toEqual(
      expect.arrayContaining([
        'apps/maintenance/index.html',
        'apps/maintenance/src/main.tsx',
        'apps/maintenance/vite.config.mjs',
        'libs/domain/transcript/src/index.ts',
        'libs/kernel/src/index.ts',
      ]),
    );
  });

  it('leaves out tests, outputs and what the app does not need', () => {
    const foreign = /\.spec\.tsx?$|\/(dist|node_modules)\/|^apps\/(?!maintenance\/)|^libs\/(drivers|platform)\//;
    expect(sources.filter((file) => foreign.test(file))).toEqual([]);
  });
});

describe('sourceDigest', () => {
  it('is the same while the sources are, and another for another app', () => {
    expect(sourceDigest(APP)).toMatch(/^[0-9a-f]{64}$/);
    expect(sourceDigest(APP)).toBe(sourceDigest(APP));
    expect(sourceDigest(APP)).not.toBe(sourceDigest('apps/gateway'));
  });
});
