import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Version of vmctl, from its package.json, which is one level above both `src` and `dist`. */
export const VERSION = (
  JSON.parse(readFileSync(path.join(__dirname, '..', 'package.json'), 'utf8')) as { readonly version: string }
).version;
