import type { CorpusProject } from '../corpus-project';

/** A private key as OpenSSL writes it, in shape. */
export const PRIVATE_KEY = `-----BEGIN ${'RSA'} PRIVATE KEY-----\n${'MIIEpAIBAAKCAQEA7bq0v3kQ1wz5Yx8sT2nR4uJ6hL9mPcDfGgHiKoVeXaZbNsWt'.repeat(3)}\n`;
const CERTIFICATE = `-----BEGIN CERTIFICATE-----\n${'MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ'.repeat(3)}\n`;

// Put together at run time: scanners of repositories would take them for leaks.
const AWS_KEY = `AKIA${'3XQW7ZRT5PLK2MNB'}`;
const ANTHROPIC_KEY = `sk-ant-api03-${'Qw8eRt5yUi3oPa7sDf1gHj9kLz2xCv4bNm6QwErTyUi'}`;
const SLACK_TOKEN = `xoxb-${'284610395721-583920174659-Kd8sLq2WmZx7RtYp4VnBc3Hj'}`;

export const OPERATIONS_PROJECTS: readonly CorpusProject[] = [
  {
    name: 'terraform and ansible',
    tracked: ['main.tf', 'variables.tf', 'ansible/site.yml', 'ansible/roles/web/tasks/main.yml'],
    keep: [
      'outputs.tf',
      'ansible/roles/db/tasks/main.yml',
      'ansible/group_vars/all.yml',
      '.terraform.lock.hcl',
      'ansible/roles/web/files/ca.pem',
    ],
    hold: {
      secret: [
        'terraform.tfstate',
        'terraform.tfstate.backup',
        'deploy/tls.pem',
        'ansible/id_ed25519',
        'ansible/vars.yml',
        '.ssh/known_hosts',
      ],
      directory: ['.terraform/providers/x'],
      dropping: ['crash.log'],
    },
    contents: {
      'deploy/tls.pem': PRIVATE_KEY,
      'ansible/roles/web/files/ca.pem': CERTIFICATE,
      'ansible/vars.yml': `aws_access_key: ${AWS_KEY}\n`,
      'ansible/group_vars/all.yml': 'aws_access_key: AKIAIOSFODNN7EXAMPLE\n',
    },
  },
  {
    name: 'secret scanner, whose sources speak of secrets',
    tracked: ['package.json', 'src/scan.ts', 'tests/scan.test.ts'],
    keep: [
      'src/patterns.ts',
      'tests/fixtures/credentials.json',
      'tests/fixtures/.env',
      'docs/secrets.md',
      'src/private-key.ts',
    ],
    hold: { secret: ['src/probe.ts', 'tests/live.json', 'config/slack.yaml', 'token.txt'] },
    contents: {
      'src/patterns.ts': 'export const AWS = /AKIA[0-9A-Z]{16}/; export const GITHUB = /ghp_[0-9A-Za-z]{36}/;\n',
      'docs/secrets.md': `Never write ghp_${'x'.repeat(36)} or AKIAIOSFODNN7EXAMPLE.\n`,
      'src/private-key.ts': "if (text.includes('-----BEGIN RSA PRIVATE KEY-----')) report();\n",
      'src/probe.ts': `const key = '${ANTHROPIC_KEY}';\n`,
      'tests/live.json': `{"key": "${AWS_KEY}"}\n`,
      'config/slack.yaml': `token: ${SLACK_TOKEN}\n`,
    },
  },
  {
    name: 'documentation',
    tracked: ['docs/index.md', 'mkdocs.yml', 'README.md', 'TODO.md'],
    keep: [
      'docs/install.md',
      'docs/images/screenshot-install.png',
      'docs/plan.md',
      'docs/summary.md',
      'docs/test_plan.md',
      'overrides/main.html',
    ],
    hold: {
      agent: ['SUMMARY_OF_CHANGES_notes.md', 'plan.txt', 'FINAL_REPORT.md'],
      directory: ['screenshots/install.png'],
      dropping: ['docs/.index.md.swp', 'site.tmp'],
      throwaway: ['check_links.py'],
    },
  },
  {
    name: 'dotfiles and shell tools',
    tracked: ['install.sh', 'bin/backup', 'zsh/zshrc'],
    keep: ['bin/restore', 'bin/check_disk.sh', 'zsh/aliases', 'tests/install.bats', 'zsh/history.zsh'],
    hold: {
      dropping: ['.bash_history', '.viminfo', 'install.sh.save', 'bin/._restore', '.wget-hsts'],
      secret: ['.netrc'],
      throwaway: ['test_install.sh', 'log.txt'],
    },
  },
  {
    name: 'windows and mac leavings in a rails application',
    tracked: [
      'Gemfile',
      'config/routes.rb',
      'app/models/user.rb',
      'spec/models/user_spec.rb',
      'log/.keep',
      'tmp/.keep',
    ],
    keep: [
      'app/models/order.rb',
      'spec/models/order_spec.rb',
      'db/migrate/1_orders.rb',
      'config/credentials.yml.enc',
      'spec/fixtures/export.bak',
    ],
    hold: {
      secret: ['config/master.key'],
      dropping: ['log/development.log', 'desktop.ini', 'app/models/user.rb.bak'],
      directory: ['tmp/cache/x', '__MACOSX/._x', 'vendor/bundle/ruby/3.2.0/x.rb'],
      throwaway: ['test_orders.rb'],
    },
  },
];
