/**
 * What a child sees of this process's environment: where programs and certificates are, the locale and the proxies.
 * Everything else stays here, because the environment of a service holds its secrets.
 */
const INHERITED_KEYS = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_DIR',
  'SSL_CERT_FILE',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
] as const;

/** Where programs are looked for when the environment has no PATH; nats-server and mke2fs live in sbin. */
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string>>;

/** The environment every child starts from; callers add to it, and nothing else of this process's environment leaks. */
export function baseEnvironment(source: NodeJS.ProcessEnv = process.env): Environment {
  const environment: Record<string, string> = { PATH: DEFAULT_PATH };
  for (const key of INHERITED_KEYS) {
    const value = source[key];
    if (value !== undefined && value !== '') environment[key] = value;
  }
  return environment;
}
