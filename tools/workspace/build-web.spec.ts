import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sourceDigest } from './build-web.mjs';
import { workspaceRoot } from './projects.mjs';

const APP = 'apps/maintenance';

describe('sourceDigest', () => {
  it('is the same while the sources are', () => {
    expect(sourceDigest(APP)).toBe(sourceDigest(APP));
    expect(sourceDigest(APP)).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each([
    ['differs with a new source of the app', 'apps/maintenance/src/digest-probe.ts', false],
    ['differs with a new source of a library that it needs through another', 'libs/kernel/src/digest-probe.ts', false],
    ['is blind to tests', 'apps/maintenance/src/digest-probe.spec.tsx', true],
    ['is blind to what it does not need', 'apps/gateway/src/digest-probe.ts', true],
  ])('%s', (_, file, isSame) => {
    const before = sourceDigest(APP);
    const probe = path.join(workspaceRoot, file);
    try {
      writeFileSync(probe, '');
      expect(sourceDigest(APP) === before).toBe(isSame);
    } finally {
      rmSync(probe, { force: true });
    }
  });
});
