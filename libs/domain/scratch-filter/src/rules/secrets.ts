import type { ContentRule, FileContent, FileNameRule, PathRule } from '../scratch-rule';

/** Files that hold secrets by their names. */
export const SECRET_NAME_RULES: readonly FileNameRule[] = [
  {
    kind: 'file-name',
    id: 'secret/environment-file',
    why: 'An environment file; these hold passwords and tokens.',
    where: 'outside-fixtures',
    patterns: ['.env', '.env.*', '*.env', '.dev.vars'],
    exceptions: ['example', 'sample', 'template', 'tpl', 'dist', 'defaults', 'schema', 'vault'].flatMap((word) => [
      `.env.${word}`,
      `.env.*.${word}`,
      `${word}.env`,
      `*.${word}.env`,
    ]),
    convention: 'none',
  },
  {
    kind: 'file-name',
    id: 'secret/key-file',
    why: 'A private key or a store of keys.',
    where: 'outside-fixtures',
    patterns: [
      'id_rsa',
      'id_dsa',
      'id_ecdsa',
      'id_ed25519',
      'id_ecdsa_sk',
      'id_ed25519_sk',
      '*.key',
      '*.p12',
      '*.pfx',
      '*.jks',
      '*.keystore',
      '*.kdbx',
      '*.ppk',
      '*_rsa',
      '*.asc.key',
      '*-key.pem',
      '*_key.pem',
      'key.pem',
      'privkey*.pem',
      'private*.pem',
      'secret*.pem',
      'keystore.properties',
    ],
    convention: 'none',
  },
  {
    kind: 'file-name',
    id: 'secret/credentials-file',
    why: 'Credentials of a program or a service.',
    where: 'outside-fixtures',
    patterns: [
      '.git-credentials',
      '.netrc',
      '_netrc',
      '.pypirc',
      '.pgpass',
      '.my.cnf',
      '.htpasswd',
      '.dockercfg',
      '.vault-token',
      '.s3cfg',
      '.boto',
      'credentials.json',
      'credentials.yml',
      'credentials.yaml',
      'client_secret*.json',
      'service-account*.json',
      'service_account*.json',
      'secrets.json',
      'secrets.yml',
      'secrets.yaml',
      'secrets.toml',
      'secret.txt',
      'secrets.txt',
      'token.txt',
      '.token',
      'terraform.tfstate',
      'terraform.tfstate.backup',
      '*.auto.tfvars',
      'secret.tfvars',
      'secrets.tfvars',
      '*.secret.exs',
      'kaggle.json',
      '.vault_pass*',
      '.vault-pass*',
      'vault_pass*',
      'vault-pass*',
      'master.key',
      'passwords.txt',
      'kubeconfig',
      // Browsers, curl and wget keep sessions in them.
      'cookies.txt',
      'cookiejar.txt',
      'cookies.sqlite',
    ],
    convention: 'none',
  },
];

/** Places where programs keep their secrets. */
export const SECRET_PATH_RULES: readonly PathRule[] = [
  {
    kind: 'path',
    id: 'secret/credentials-directory',
    why: 'A directory in which a program keeps its credentials.',
    patterns: [
      '**/.ssh/',
      '**/.gnupg/',
      '**/.aws/credentials',
      '**/.kube/config',
      '**/.docker/config.json',
      '**/.config/gcloud/',
      '**/.azure/',
    ],
    convention: 'none',
  },
];

/** The shape of one kind of token. The pattern has bounded repetitions of single classes only. */
interface TokenShape {
  readonly id: string;
  readonly why: string;
  readonly pattern: RegExp;
}

const TOKEN_SHAPES: readonly TokenShape[] = [
  {
    // AWS IAM, "Understanding unique ID prefixes": AKIA long-term, ASIA temporary.
    id: 'secret/aws-key',
    why: 'It holds what looks like an AWS access key.',
    pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  },
  {
    // GitHub, "About authentication": ghp, gho, ghu, ghs, ghr and github_pat prefixes.
    id: 'secret/github-token',
    why: 'It holds what looks like a GitHub token.',
    pattern: /\b(?:gh[pousr]_[0-9A-Za-z]{36,255}|github_pat_[0-9A-Za-z_]{40,255})/g,
  },
  {
    // GitLab, "Token prefixes".
    id: 'secret/gitlab-token',
    why: 'It holds what looks like a GitLab token.',
    pattern: /\bgl(?:pat|dt|rt|cbt|ptt)-[0-9A-Za-z_-]{20,255}/g,
  },
  {
    // Slack, "Token types": xoxb bot, xoxp user, xapp app-level; and incoming webhook addresses.
    id: 'secret/slack-token',
    why: 'It holds what looks like a Slack token or webhook.',
    pattern:
      /\b(?:xox[abeprs]-[0-9A-Za-z-]{20,255}|xapp-[0-9A-Za-z-]{20,255}|hooks\.slack\.com\/services\/T[0-9A-Z]{6,20}\/B[0-9A-Z]{6,20}\/[0-9A-Za-z]{16,64})/g,
  },
  {
    id: 'secret/anthropic-key',
    why: 'It holds what looks like an Anthropic API key.',
    pattern: /\bsk-ant-[0-9a-z]{3,12}-[0-9A-Za-z_-]{24,255}/g,
  },
  {
    // Legacy keys have 48 characters after `sk-`; project and service-account keys carry their kind.
    id: 'secret/openai-key',
    why: 'It holds what looks like an OpenAI API key.',
    pattern: /\bsk-(?:(?:proj|svcacct|admin)-[0-9A-Za-z_-]{24,255}|[0-9A-Za-z]{48}\b)/g,
  },
  {
    // Google Cloud, "API keys": AIza and 35 characters; ya29 for OAuth access tokens.
    id: 'secret/google-key',
    why: 'It holds what looks like a Google API key or access token.',
    pattern: /\b(?:AIza[0-9A-Za-z_-]{35}|ya29\.[0-9A-Za-z_-]{40,255})/g,
  },
  {
    id: 'secret/stripe-key',
    why: 'It holds what looks like a live Stripe key.',
    pattern: /\b[rs]k_live_[0-9A-Za-z]{24,255}/g,
  },
  {
    // npm, PyPI and Hugging Face document these prefixes for secret scanners.
    id: 'secret/registry-token',
    why: 'It holds what looks like a token of a package registry.',
    pattern: /\b(?:npm_[0-9A-Za-z]{36}\b|pypi-AgE[0-9A-Za-z_-]{50,255}|hf_[0-9A-Za-z]{34}\b)/g,
  },
];

// Real tokens are random; `AKIAIOSFODNN7EXAMPLE` and `ghp_xxxxxxxx` stand in documents.
const MIN_DISTINCT_CHARACTERS = 10;

const PLACEHOLDER = /example|placeholder|your|xxxx|changeme|redacted|dummy|0123456789|1234567890/i;

const isPlaceholder = (token: string): boolean =>
  PLACEHOLDER.test(token) || new Set(token).size < MIN_DISTINCT_CHARACTERS;

const tokenRule = ({ id, why, pattern }: TokenShape): ContentRule => ({
  kind: 'content',
  where: 'anywhere',
  id,
  why,
  matches: ({ text }) => {
    for (const [token] of text.matchAll(pattern)) if (!isPlaceholder(token)) return true;
    return false;
  },
});

// RFC 7468 labels, OpenSSH's own, and the armour of PGP. A body must follow: source code only names the header.
const PRIVATE_KEY_HEADER = /-----BEGIN (?:[A-Z0-9]{2,12} )?PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_BODY = /[0-9A-Za-z+/]{40}/;
const KEY_BODY_WINDOW = 400;

function hasPrivateKey({ text }: FileContent): boolean {
  for (const { 0: header, index } of text.matchAll(PRIVATE_KEY_HEADER)) {
    const body = index + header.length;
    if (KEY_BODY.test(text.slice(body, body + KEY_BODY_WINDOW))) return true;
  }
  return text.startsWith('PuTTY-User-Key-File-');
}

/** Files that hold secrets by the shape of their content. */
export const SECRET_CONTENT_RULES: readonly ContentRule[] = [
  {
    kind: 'content',
    id: 'secret/private-key',
    where: 'anywhere',
    why: 'It holds a private key.',
    matches: hasPrivateKey,
  },
  ...TOKEN_SHAPES.map(tokenRule),
];
