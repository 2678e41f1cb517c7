import js from '@eslint/js';
import nx from '@nx/eslint-plugin';
import prettier from 'eslint-config-prettier/flat';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';
import { depConstraints } from './tools/lint-rules/boundaries.mjs';
import { globals } from './tools/lint-rules/globals.mjs';
import { inquestRules } from './tools/lint-rules/index.mjs';

const TYPESCRIPT = ['apps/**/*.{ts,tsx}', 'libs/**/*.ts', 'tools/**/*.ts'];
const WEB = ['apps/maintenance/**/*.{ts,tsx}'];
const TESTS = [
  '**/*.spec.ts',
  '**/*.medium-spec.ts',
  '**/*.vm-spec.ts',
  '**/src/testing/**/*.ts',
  'libs/testing/**/*.ts',
];
const PURE = ['libs/kernel/src/**/*.ts', 'libs/domain/*/src/**/*.ts', 'libs/contracts/*/src/**/*.ts'];

const deepImport = {
  regex: '^@inquest/[^/]+/(?!testing$).+',
  message: 'Import what the library exports; what it does not export is its own business.',
};
const execaImport = { name: 'execa', message: 'Processes are started by @inquest/process.' };
const childProcessImport = { name: 'node:child_process', message: 'Processes are started by @inquest/process.' };
const testingImport = {
  regex: '^@inquest/(testing|[^/]+/testing)$',
  message: 'Fixtures and fakes are for spec files.',
};
const driverImport = {
  regex: '^@inquest/(vm-driver-.+|git-forge-.+)$',
  message: 'Only a *.module.ts picks a driver; everything else depends on its interface.',
  allowTypeImports: true,
};
// Interface and driver share one library here.
const modelDriverImport = {
  name: '@inquest/model-client',
  importNames: ['OpenAiModelClient'],
  message: driverImport.message,
};
const hostImport = {
  regex: '^node:(fs|child_process|net|http|https|dgram|os|process|worker_threads)(/|$)',
  message: 'This library is pure: let its caller do the input and output.',
};
const restrictImports = (paths, patterns) => ({
  '@typescript-eslint/no-restricted-imports': ['error', { paths, patterns: [deepImport, ...patterns] }],
});

const restrictedSyntax = [
  { selector: 'TSEnumDeclaration', message: 'Use an `as const` object or array and a union type.' },
  { selector: 'ExportAllDeclaration', message: 'Name what is exported.' },
  { selector: 'ExportDefaultDeclaration', message: 'Use a named export.' },
  { selector: 'TSInterfaceDeclaration[id.name=/^I[A-Z]/]', message: 'Interfaces have no `I` prefix.' },
  {
    selector:
      'ImportDeclaration[source.value="class-transformer"] > ImportSpecifier[imported.name=/^(Transform|Expose|Exclude)$/]',
    message: 'Most DTOs are made without class-transformer, from their rules and `Type` alone: see dto-plan.ts.',
  },
];

export default tseslint.config(
  {
    ignores: ['**/dist/**', '**/node_modules/**', '.nx/**', '**/golden/**', '**/fixtures/**', '.inquest/**', '**/*.go'],
  },
  { linterOptions: { reportUnusedDisableDirectives: 'error', noInlineConfig: true } },
  js.configs.recommended,
  { files: ['**/*.{js,mjs,cjs}'], languageOptions: { globals: globals.node } },
  { files: ['**/*.{js,cjs}'], languageOptions: { sourceType: 'commonjs', globals: globals.commonjs } },
  ...tseslint.configs.recommendedTypeChecked.map((config) => ({ ...config, files: TYPESCRIPT })),
  {
    files: TYPESCRIPT,
    plugins: { '@nx': nx, inquest: inquestRules },
    // One program over sources and tests: the project's own tsconfig leaves the tests out.
    languageOptions: { parserOptions: { project: './tsconfig.spec.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@nx/enforce-module-boundaries': ['error', { allow: [], depConstraints }],
      '@typescript-eslint/explicit-module-boundary-types': 'off',
      '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      'inquest/no-vague-name': 'error',
      'inquest/test-title-states-fact': 'error',
      'max-lines': ['error', { max: 350 }],
      // Taking control characters out of hostile text is this product's daily work.
      'no-control-regex': 'off',
      'no-console': 'error',
      'no-restricted-syntax': ['error', ...restrictedSyntax],
      ...restrictImports([execaImport, childProcessImport], [testingImport]),
    },
  },
  {
    files: ['apps/*/src/**/*.ts', 'libs/**/src/**/*.ts'],
    ignores: [
      ...TESTS,
      'libs/platform/config/**',
      'libs/platform/process/src/environment.ts',
      'apps/vmctl/src/main.ts',
    ],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'The environment is read by @inquest/config.' },
      ],
    },
  },
  {
    files: ['apps/*/src/**/*.ts'],
    ignores: ['**/*.module.ts', ...TESTS],
    rules: restrictImports([execaImport, childProcessImport, modelDriverImport], [testingImport, driverImport]),
  },
  {
    // QEMU inherits descriptors and its error output is bounded by us: more than a process of the platform needs.
    files: ['libs/platform/process/src/**/*.ts', 'libs/drivers/vm-driver-qemu/src/qemu-process.ts'],
    ignores: TESTS,
    rules: restrictImports([], [testingImport]),
  },
  {
    files: PURE,
    ignores: TESTS,
    rules: {
      ...restrictImports([execaImport], [testingImport, hostImport]),
      'no-restricted-globals': ['error', 'process', 'fetch'],
    },
  },
  {
    files: ['libs/domain/*/src/**/*.ts', 'libs/contracts/*/src/**/*.ts'],
    ignores: TESTS,
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'Time comes in as an argument.' },
        { object: 'performance', property: 'now', message: 'Time comes in as an argument.' },
      ],
    },
  },
  {
    files: TESTS,
    rules: {
      ...restrictImports([execaImport], []),
      // `expect(fake.method)` and matchers typed `any` are the test framework's idiom.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      'max-lines': ['error', { max: 500 }],
    },
  },
  {
    files: WEB,
    plugins: { 'react-hooks': reactHooks },
    languageOptions: {
      parserOptions: { project: './apps/maintenance/tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
    rules: { 'react-hooks/rules-of-hooks': 'error', 'react-hooks/exhaustive-deps': 'error' },
  },
  { files: ['apps/vmctl/**/*.ts', 'apps/*/src/main.ts'], rules: { 'no-console': 'off' } },
  prettier,
);
