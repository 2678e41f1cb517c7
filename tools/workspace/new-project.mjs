// Makes the folder of a new library or app with what every project has: package.json, tsconfig.json, src/index.ts.
//   node tools/workspace/new-project.mjs libs/drivers/git-forge-gitea type:driver scope:publish env:node
// Then run `npm install` (links it) and `npm run sync` (TypeScript project references).
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const [root, ...tags] = process.argv.slice(2);
if (!root || tags.length < 3 || !/^(apps|libs)\/[a-z0-9/-]+$/.test(root)) {
  console.error('usage: node tools/workspace/new-project.mjs <apps|libs>/... type:<...> scope:<...> env:<...>');
  process.exit(2);
}
if (existsSync(root)) {
  console.error(`${root} exists; choose another name or remove it first`);
  process.exit(2);
}
const isApp = root.startsWith('apps/');
const isContract = root.startsWith('libs/contracts/');
const name = `@inquest/${isContract ? 'contracts-' : ''}${path.basename(root)}`;
const up = path.relative(root, 'tsconfig.base.json');
const entry = { '@inquest/source': './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' };
const manifest = {
  name,
  version: '0.1.0',
  private: true,
  type: 'commonjs',
  ...(isApp
    ? { main: './dist/main.js' }
    : {
        main: './dist/index.js',
        types: './dist/index.d.ts',
        exports: { './package.json': './package.json', '.': entry },
      }),
  nx: { tags, targets: { build: {}, test: {}, lint: {} } },
};
const tsconfig = {
  extends: up,
  compilerOptions: { rootDir: 'src', outDir: 'dist', tsBuildInfoFile: 'dist/tsconfig.tsbuildinfo' },
  include: ['src/**/*.ts'],
  exclude: ['src/**/*.spec.ts', 'src/**/*.medium-spec.ts', 'src/**/*.vm-spec.ts'],
  references: [],
};
mkdirSync(path.join(root, 'src'), { recursive: true });
writeFileSync(path.join(root, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
writeFileSync(path.join(root, 'tsconfig.json'), `${JSON.stringify(tsconfig, null, 2)}\n`);
writeFileSync(path.join(root, 'src', isApp ? 'main.ts' : 'index.ts'), 'export {};\n');
console.log(`made ${root} (${name})`);
