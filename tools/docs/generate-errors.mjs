// Writes docs/errors.md from the error tables of the built libraries (run `npm run build` first).
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import 'reflect-metadata';
import { workspaceRoot } from '../workspace/projects.mjs';
import { collectErrors, renderErrors } from './error-tables.mjs';

const require = createRequire(import.meta.url);
const file = path.join(workspaceRoot, 'docs/errors.md');
const entries = collectErrors((root) => require(path.join(workspaceRoot, root, 'dist/index.js')));
writeFileSync(file, renderErrors(entries));
console.error(`docs/errors.md: ${entries.length} codes`);
