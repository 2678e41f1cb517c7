import type { CorpusProject } from '../corpus-project';

export const WEB_PROJECTS: readonly CorpusProject[] = [
  {
    name: 'react application',
    tracked: ['package.json', 'vite.config.ts', 'src/App.tsx', 'src/App.test.tsx', 'public/index.html', '.gitignore'],
    keep: [
      'src/Cart.tsx',
      'src/Cart.test.tsx',
      'src/__snapshots__/Cart.test.tsx.snap',
      'package-lock.json',
      'public/logo.png',
      'tsconfig.json',
      'src/test-utils.ts',
      'eslint.config.js',
      'docs/screenshot.png',
    ],
    hold: {
      directory: [
        'node_modules/react/index.js',
        'node_modules/.bin/vite',
        'test-results/cart/trace.zip',
        'playwright-report/index.html',
        'coverage/lcov.info',
      ],
      throwaway: ['screenshot.png', 'screenshot-2.png', 'test-cart.js', 'debug.html'],
      dropping: ['npm-debug.log', '.eslintcache', 'tsconfig.tsbuildinfo'],
      agent: ['CART_IMPLEMENTATION_SUMMARY.md'],
    },
  },
  {
    name: 'static site made from nothing',
    tracked: [],
    keep: ['index.html', 'style.css', 'script.js', 'images/hero.jpg', 'favicon.ico', 'README.md', 'dist/index.html'],
    hold: {
      throwaway: ['test.html', 'screenshot_home.png', 'shot-1.png'],
      dropping: ['server.log', 'nohup.out', 'style.css.bak'],
      agent: ['PLAN.md'],
      directory: ['.cache/fonts.json'],
    },
  },
  {
    name: 'node library with tests beside the sources',
    tracked: ['package.json', 'lib/parse.js', 'lib/parse.test.js', 'test-setup.js', 'check-types.js'],
    keep: [
      'lib/print.js',
      'lib/print.test.js',
      'check-exports.js',
      'CHANGELOG.md',
      'bench/parse.bench.js',
      'release-notes.md',
    ],
    hold: {
      throwaway: ['debug-parse.js', 'tmp-input.js', 'test.js', 'out.txt'],
      dropping: ['lib/print.js.rej', 'yarn-error.log', 'core.12345'],
      directory: ['.nyc_output/a.json'],
    },
  },
  {
    name: 'next.js with secrets beside it',
    tracked: ['package.json', 'next.config.js', 'app/page.tsx', '.env.example'],
    keep: ['app/login/page.tsx', 'lib/session.ts', 'middleware.ts', '.env.local.example', 'certs/README.md'],
    hold: {
      secret: ['.env.local', '.env.production', 'certs/dev-key.pem', 'lib/config.ts', 'credentials.json'],
      directory: ['.next/cache/x.pack', '.vscode/settings.json'],
    },
    contents: {
      'lib/config.ts': `export const token = '${'ghp'}_${'a8Kd0Zq3Lm5Xw7Rt9Yb1Nc4Vf6Hj2Gs0PuEo'}';\n`,
      'lib/session.ts': "// The key is read from process.env.SESSION_KEY, like 'sk-your-key-here'.\n",
    },
  },
  {
    name: 'express service whose team tracks its editor settings',
    tracked: [
      'package.json',
      'server.js',
      '.vscode/launch.json',
      'logs/.gitkeep',
      'tmp/.gitkeep',
      'build/webpack.common.js',
    ],
    keep: [
      '.vscode/tasks.json',
      'routes/users.js',
      'build/webpack.prod.js',
      'core/index.js',
      'log/format.js',
      'coverage.md',
    ],
    hold: {
      dropping: ['logs/access.log', 'logs/run.txt', 'server.pid', 'Thumbs.db', 'routes/users.js.orig', 'heap.hprof'],
      directory: ['tmp/upload.bin', '.idea/workspace.xml'],
    },
  },
  {
    name: 'browser game with an agent that kept notes',
    tracked: ['README.md', 'index.html', 'game.js'],
    keep: [
      'levels/1.json',
      'assets/sprites.png',
      'sound/jump.wav',
      'docs/notes.md',
      'CONTRIBUTING.md',
      'docs/scratchpad.md',
    ],
    hold: {
      agent: [
        'NOTES.md',
        'PROGRESS.md',
        'notes.txt',
        '.aider.chat.history.md',
        '.claude/settings.local.json',
        'WALKTHROUGH.md',
      ],
      directory: ['scratchpad/idea.js'],
      session: ['final-view.png'],
    },
    sessionFiles: ['final-view.png'],
  },
];
