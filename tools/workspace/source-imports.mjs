// What TypeScript sources import, read from their text: quick, and independent of whether they compile.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * One static import or re-export. A type-only one is erased by the compiler: it makes no cycle at run time.
 * @typedef {{ specifier: string, isTypeOnly: boolean }} SourceImport
 */

const STATEMENT = /^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm;
const TEST_FILE = /\.(spec|medium-spec|vm-spec)\.tsx?$/;

/**
 * The TypeScript files under `directory` that are no tests; none when it does not exist.
 * @param {string} directory
 * @returns {string[]} absolute when `directory` is
 */
export function sourceFiles(directory) {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.d)\.tsx?$/.test(entry.name) && !TEST_FILE.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name));
}

/** @param {string} file @returns {SourceImport[]} */
export const importsOf = (file) => parseImports(readFileSync(file, 'utf8'));

/** @param {string} source formatted by prettier @returns {SourceImport[]} */
export const parseImports = (source) =>
  [...source.matchAll(STATEMENT)].map(([, type, specifier]) => ({ specifier, isTypeOnly: type !== undefined }));
