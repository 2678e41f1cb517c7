// Builds the web apps (projects with the tag env:browser) with Vite. One whose sources are those of its last build is
// left as it is, so that building twice costs a moment.
//   node tools/workspace/build-web.mjs
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { listProjects, workspaceRoot } from './projects.mjs';
import { sourceDigest } from './source-digest.mjs';

/** In the output itself: whoever deletes that gets a new build. */
const STAMP = '.built-from-sha256';

for (const { root, tags } of listProjects()) if (tags.includes('env:browser')) await buildWhereStale(root);

async function buildWhereStale(root) {
  const stamp = path.join(workspaceRoot, root, 'dist', STAMP);
  const digest = sourceDigest(root);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  // Loaded only when there is something to build.
  const { build } = await import('vite');
  await build({ root: path.join(workspaceRoot, root), logLevel: 'warn' });
  writeFileSync(stamp, digest);
}
