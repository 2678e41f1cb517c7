import type { CorpusProject } from '../corpus-project';

export const LANGUAGE_PROJECTS: readonly CorpusProject[] = [
  {
    name: 'asp.net service',
    tracked: ['Shop.sln', 'src/Shop/Shop.csproj', 'src/Shop/Program.cs', 'tests/Shop.Tests/CartTests.cs', '.gitignore'],
    keep: [
      'src/Shop/Orders.cs',
      'tests/Shop.Tests/OrderTests.cs',
      'src/Shop/appsettings.json',
      'global.json',
      'src/Shop/Debug/Panel.cs',
    ],
    hold: {
      directory: ['.vs/Shop/v17/x.suo', 'TestResults/1.trx'],
      secret: ['src/Shop/dev.pfx', '.env'],
      throwaway: ['test_orders.ps1', 'check-api.sh', 'response_output.txt'],
      dropping: ['src/Shop/Program.cs.bak', 'shop.log'],
      agent: ['ORDERS_IMPLEMENTATION.md'],
    },
  },
  {
    name: 'ruby gem',
    tracked: ['thing.gemspec', 'lib/thing.rb', 'spec/thing_spec.rb', 'Rakefile', 'Gemfile'],
    keep: [
      'lib/thing/debug.rb',
      'spec/debug_spec.rb',
      'spec/fixtures/a.log',
      'CHANGELOG.md',
      'exe/thing',
      'sig/thing.rbs',
    ],
    hold: {
      directory: ['coverage/.last_run.json', 'vendor/bundle/ruby/3.3.0/x.rb', '.bundle/cache/x'],
      throwaway: ['test_thing.rb', 'try.rb', 'debug_thing.rb'],
      dropping: ['thing.log', 'lib/thing.rb.orig'],
      secret: ['.pgpass'],
      agent: ['notes.md'],
    },
  },
  {
    name: 'hugo blog',
    tracked: ['hugo.toml', 'content/posts/first.md', 'layouts/index.html', 'static/css/site.css'],
    keep: [
      'content/posts/plan.md',
      'content/posts/notes-on-testing.md',
      'content/posts/images/screenshot.png',
      'layouts/partials/debug.html',
      'data/log.yaml',
      'static/test.html',
    ],
    hold: {
      dropping: ['.hugo_build.lock', 'hugo.log', 'content/posts/first.md~'],
      throwaway: ['check_links.sh', 'screenshot-home.png', 'out.txt'],
      agent: ['PLAN.md', 'SUMMARY.md'],
      directory: ['resources/tmp/x.png'],
    },
  },
  {
    name: 'phoenix application',
    tracked: ['mix.exs', 'lib/app.ex', 'test/app_test.exs', 'config/dev.exs', 'priv/repo/seeds.exs'],
    keep: [
      'lib/app/check.ex',
      'test/app/check_test.exs',
      'test/support/log.ex',
      'priv/repo/migrations/1_users.exs',
      'mix.lock',
    ],
    hold: {
      dropping: ['erl_crash.dump', 'app.log'],
      throwaway: ['test_api.sh', 'debug.exs', 'verify_users.exs'],
      secret: ['.env', 'config/prod.key'],
      agent: ['TODO.md'],
      directory: ['assets/node_modules/x/y.js', '.elixir_ls/build/x'],
    },
  },
  {
    name: 'scala service with sbt',
    tracked: ['build.sbt', 'project/plugins.sbt', 'src/main/scala/App.scala', 'src/test/scala/AppSpec.scala'],
    keep: [
      'src/main/scala/Check.scala',
      'src/test/scala/CheckSpec.scala',
      'src/main/resources/logback.xml',
      'project/build.properties',
    ],
    hold: {
      directory: ['.metals/metals.lock.db', '.bloop/root.json', '.idea/sbt.xml', 'tmp/x.csv'],
      dropping: ['app.log', 'hs_err_pid77.log', 'src/main/scala/App.scala.orig'],
      throwaway: ['test_api.sh', 'check_kafka.py', 'debug_output.txt'],
      agent: ['PERFORMANCE_ANALYSIS.md', 'notes.txt'],
      secret: ['keystore.jks'],
    },
  },
  {
    name: 'kubernetes manifests with kustomize',
    tracked: ['base/kustomization.yaml', 'base/deployment.yaml', 'overlays/prod/kustomization.yaml', 'Makefile'],
    keep: [
      'base/service.yaml',
      'overlays/test/kustomization.yaml',
      'overlays/test/patch-debug.yaml',
      'docs/runbook.md',
      'scripts/check-manifests.sh',
    ],
    hold: {
      secret: ['kubeconfig', 'overlays/prod/secrets.yaml', 'tls.key', '.kube/config'],
      throwaway: ['test-deploy.sh', 'tmp.yaml', 'output.yaml.txt', 'debug-pod.sh'],
      dropping: ['kubectl.log', 'base/deployment.yaml.bak'],
      agent: ['DEPLOYMENT_SUMMARY.md'],
    },
  },
  {
    name: 'swift package',
    tracked: ['Package.swift', 'Sources/Kit/Kit.swift', 'Tests/KitTests/KitTests.swift'],
    keep: [
      'Sources/Kit/Logger.swift',
      'Tests/KitTests/LoggerTests.swift',
      'Tests/KitTests/Fixtures/old.log',
      'Package.resolved',
      'README.md',
    ],
    hold: {
      directory: ['.build/debug/Kit.o', '.swiftpm/xcode/x.plist', 'xcuserdata/x.xcuserstate'],
      throwaway: ['test.swift', 'try_kit.sh', 'screenshot.png'],
      dropping: ['.DS_Store', 'Sources/Kit/Kit.swift.orig', 'swift.log'],
      agent: ['PLAN.md'],
    },
  },
];
