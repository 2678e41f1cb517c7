// The one Jest configuration. A test's speed is in its file name:
//   *.spec.ts         unit    no process, no network
//   *.medium-spec.ts  medium  real nats-server, Postgres, git, child processes
//   *.vm-spec.ts      vm      real guests under QEMU
const path = require('node:path');

// ESM-only packages that Jest's CommonJS loader cannot require; @swc/jest converts them.
const esmPackages = [
  'execa',
  '@sindresorhus/merge-streams',
  '@sec-ant/readable-stream',
  'figures',
  'get-stream',
  'human-signals',
  'is-plain-obj',
  'is-stream',
  'is-unicode-supported',
  'npm-run-path',
  'parse-ms',
  'path-key',
  'pretty-ms',
  'strip-final-newline',
  'unbash',
  'unicorn-magic',
  'yoctocolors',
];

const swc = {
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    keepClassNames: true,
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
  },
  module: { type: 'commonjs' },
  sourceMaps: 'inline',
  swcrc: false,
};

/** @param {'unit' | 'medium' | 'vm'} speed @param {string} suffix @returns {import('jest').Config} */
const project = (speed, suffix) => ({
  displayName: speed,
  rootDir: __dirname,
  testEnvironment: 'node',
  testMatch: [`<rootDir>/{apps,libs,tools}/**/*.${suffix}.ts`],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['/dist/', '<rootDir>/.inquest/'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'json'],
  transform: { '^.+\\.(ts|js|mjs)$': ['@swc/jest', swc] },
  transformIgnorePatterns: [`/node_modules/(?!(${esmPackages.join('|')})/)`],
  // Its package.json has only an "import" condition.
  moduleNameMapper: { '^unicorn-magic$': path.join(__dirname, 'node_modules/unicorn-magic/node.js') },
  // Libraries resolve to their sources, so tests need no build.
  testEnvironmentOptions: { customExportConditions: ['@inquest/source', 'require', 'node', 'default'] },
});

module.exports = {
  projects: [project('unit', 'spec'), project('medium', 'medium-spec'), project('vm', 'vm-spec')],
};
