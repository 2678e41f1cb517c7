// Lints the whole repository in one ESLint process: one TypeScript program serves all files.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { workspaceRoot } from '../workspace/projects.mjs';

// CI: nx asks no questions.
const env = { ...process.env, CI: 'true', NX_DAEMON: 'false' };

run('tools/workspace/sync-projects.mjs', ['--check']);
// The boundary rule reads the cached project graph; a stale one misses new imports. Listing projects refreshes it.
run('node_modules/nx/dist/bin/nx.js', ['show', 'projects'], 'ignore');
run('node_modules/eslint/bin/eslint.js', ['.', '--max-warnings', '0']);

function run(script, args, stdout = 'inherit') {
  const file = path.join(workspaceRoot, script);
  const stdio = ['ignore', stdout, 'inherit'];
  const { status, signal } = spawnSync(process.execPath, [file, ...args], { cwd: workspaceRoot, env, stdio });
  if (status === 0) return;
  console.error(`${script} ended with ${status ?? signal}`);
  process.exit(status ?? 1);
}
