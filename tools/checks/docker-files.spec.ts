import 'reflect-metadata';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { describeConfig, ServiceConfig } from '@inquest/config';
import type { DtoClass } from '@inquest/kernel';
import { defaultServices, type NatsUser, type ServiceDeclaration } from '@inquest/stack';
import { hostPackages } from '../setup/host-programs.mjs';
import { workspaceRoot } from '../workspace/projects.mjs';

interface ComposeService {
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly volumes?: readonly string[];
}
interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes?: Readonly<Record<string, unknown>>;
}
interface ConfiguredUser {
  readonly user: string;
  readonly password: string;
  readonly permissions: Pick<NatsUser, 'publish' | 'subscribe'>;
}

/** Where the images have the repository. */
const IMAGE_ROOT = '/srv/inquest';
/** Packages that only containers need. tini: an init as process 1, which a host has anyway. */
const CONTAINER_PACKAGES = ['tini'];

const inRepository = (...parts: readonly string[]): string => path.join(workspaceRoot, ...parts);
const read = (...parts: readonly string[]): string => readFileSync(inRepository(...parts), 'utf8');
const readYaml = <T>(file: string): T => parse(read('docker', file), { merge: true }) as T;

const services = readdirSync(inRepository('apps')).filter((name) => name === 'gateway' || name.endsWith('-service'));
const compose = readYaml<Compose>('compose.yaml');
const knownPackages = [...hostPackages().map(({ name }) => name), ...CONTAINER_PACKAGES];

/** One instruction per line: continuations joined, comments left out. */
const instructionsOf = (service: string): string[] =>
  read('docker', `${service}.Dockerfile`)
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line !== '');

/** The instruction's arguments, for each time it is used. */
const argumentsOf = (service: string, instruction: string): string[] =>
  instructionsOf(service)
    .filter((line) => line.startsWith(`${instruction} `))
    .map((line) => line.slice(instruction.length + 1));

const installedPackages = (service: string): string[] =>
  argumentsOf(service, 'RUN').flatMap((command) => {
    const [, list = ''] = /apt-get install ([^&]*)/.exec(command) ?? [];
    return list.split(/\s+/).filter((word) => word !== '' && !word.startsWith('-'));
  });

/** What the service reads from its environment. */
function configRows(service: string): ReturnType<typeof describeConfig> {
  const file = inRepository('apps', service, 'src', `${service}.config.ts`);
  if (!existsSync(file)) return describeConfig(ServiceConfig);
  const exported = Object.values(jest.requireActual<Record<string, unknown>>(file));
  const Class = exported.find((value) => typeof value === 'function' && value.prototype instanceof ServiceConfig);
  return describeConfig(Class as DtoClass);
}

describe.each(services)('docker/%s.Dockerfile', (service) => {
  it('copies only what the repository has', () => {
    const sources = argumentsOf(service, 'COPY').flatMap((args) => {
      const words = args.split(' ');
      const isFromBuild = words[0] === '--from=build';
      const paths = words.slice(isFromBuild ? 1 : 0, -1);
      return isFromBuild ? paths.map((at) => path.relative(IMAGE_ROOT, at)) : paths;
    });
    expect(sources).toEqual(expect.arrayContaining(['package.json', 'package-lock.json', 'apps', 'libs']));
    // The one thing that the build stage makes.
    const missing = sources.filter((at) => at !== 'node_modules' && !existsSync(inRepository(at)));
    expect(missing).toEqual([]);
  });

  it('builds and starts its own service', () => {
    expect(argumentsOf(service, 'RUN').join('\n')).toContain(`tsc -b apps/${service} `);
    expect(existsSync(inRepository('apps', service, 'tsconfig.json'))).toBe(true);
    const [entry = '[]'] = argumentsOf(service, 'ENTRYPOINT');
    expect(JSON.parse(entry)).toEqual(['tini', '--', 'node', `apps/${service}/dist/main.js`]);
    expect(existsSync(inRepository('apps', service, 'src', 'main.ts'))).toBe(true);
  });

  it('runs on the Node.js that the workspace asks for, the same in every stage', () => {
    const { engines } = JSON.parse(read('package.json')) as { readonly engines: { readonly node: string } };
    const versions = argumentsOf(service, 'FROM').map((args) => /^node:([\d.]+)-bookworm-slim\b/.exec(args)?.[1]);
    expect(versions).toHaveLength(2);
    expect(new Set(versions).size).toBe(1);
    const [major = 0, minor = 0] = (versions[0] ?? '').split('.').map(Number);
    const [leastMajor = 0, leastMinor = 0] = engines.node.replace('>=', '').split('.').map(Number);
    expect(major * 1000 + minor).toBeGreaterThanOrEqual(leastMajor * 1000 + leastMinor);
    expect(String(major)).toBe(read('.nvmrc').trim());
  });

  it('installs only packages that set-up knows, and init', () => {
    const packages = installedPackages(service);
    expect(packages).toContain('tini');
    expect(packages.filter((name) => !knownPackages.includes(name))).toEqual([]);
    expect(packages).toEqual([...packages].sort());
  });

  it('sets only variables that the service reads', () => {
    const names = argumentsOf(service, 'ENV').flatMap((args) => args.split(' ').map((pair) => pair.split('=')[0]));
    const known = [...configRows(service).map(({ variable }) => variable), 'NODE_ENV'];
    expect(names).toContain('INQUEST_HOME');
    expect(names.filter((name) => !known.includes(name ?? ''))).toEqual([]);
  });

  it('gives an unprivileged service a state directory of its own', () => {
    const isUnprivileged = argumentsOf(service, 'USER').includes('node');
    const [volume] = argumentsOf(service, 'VOLUME');
    const isOwned = argumentsOf(service, 'RUN').some(
      (command) => command === `install -d -o node -g node -m 0700 ${volume}`,
    );
    expect(isOwned).toBe(isUnprivileged && volume !== undefined);
  });
});

describe('docker/', () => {
  it('has no Dockerfile without a service', () => {
    const files = readdirSync(inRepository('docker')).filter((name) => name.endsWith('.Dockerfile'));
    expect(files.sort()).toEqual(services.map((service) => `${service}.Dockerfile`).sort());
  });

  it('gives vm-service QEMU, and image-service what the recipes need', () => {
    expect(installedPackages('vm-service')).toEqual(
      expect.arrayContaining(['qemu-system-x86', 'qemu-utils', 'util-linux']),
    );
    const recipes = readdirSync(inRepository('tools/images'), { withFileTypes: true }).filter((at) => at.isDirectory());
    const needed = recipes.flatMap(({ name }) => {
      const { hostPackages: packages } = parse(read('tools/images', name, 'recipe.yaml')) as {
        hostPackages?: string[];
      };
      return packages ?? [];
    });
    expect(installedPackages('image-service')).toEqual(expect.arrayContaining(needed));
  });

  it('names every variable of compose.yaml in .env.example, and no other', () => {
    const used = [...read('docker/compose.yaml').matchAll(/\$\{([A-Z0-9_]+)/g)].map(([, name]) => name ?? '');
    const offered = [...read('docker/.env.example').matchAll(/^([A-Z0-9_]+)=/gm)].map(([, name]) => name ?? '');
    expect([...new Set(used)].sort()).toEqual([...offered].sort());
  });
});

describe.each(services)('%s in docker/compose.yaml', (service) => {
  const entry = compose.services[service] ?? {};
  const environment = entry.environment ?? {};

  it('is built by its own Dockerfile from the top of the repository', () => {
    expect(entry.build).toEqual({ context: '..', dockerfile: `docker/${service}.Dockerfile` });
  });

  it('gets only variables that it reads, and all that it requires', () => {
    const rows = configRows(service);
    const known = rows.map(({ variable }) => variable);
    expect(Object.keys(environment).filter((name) => !known.includes(name))).toEqual([]);
    const required = rows.filter(({ isRequired }) => isRequired).map(({ variable }) => variable);
    expect(required.filter((name) => environment[name] === undefined)).toEqual([]);
  });

  it('logs in to NATS as itself', () => {
    const password = `NATS_PASSWORD_${service.toUpperCase().replace('-', '_')}`;
    expect(environment).toMatchObject({ INQUEST_NATS_USER: service, INQUEST_NATS_PASSWORD: `\${${password}}` });
    expect(compose.services['nats']?.environment).toHaveProperty(password);
  });

  it('waits for and mounts only what the file declares', () => {
    const named = (entry.volumes ?? []).map((volume) => volume.split(':')[0]);
    expect(Object.keys(compose.volumes ?? {})).toEqual(expect.arrayContaining(named));
    expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(Object.keys(entry.depends_on ?? {})));
  });
});

describe('docker/compose.kvm.yaml', () => {
  it('changes only services that compose.yaml has', () => {
    const names = Object.keys(readYaml<Compose>('compose.kvm.yaml').services);
    expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(names));
  });
});

describe('docker/nats.conf', () => {
  const { users } = readYaml<{ readonly authorization: { readonly users: readonly ConfiguredUser[] } }>(
    'nats.conf',
  ).authorization;
  const { natsUsers } = jest.requireActual<{
    natsUsers: (services: readonly ServiceDeclaration[], passwords: Record<string, string>) => NatsUser[];
  }>(inRepository('libs/platform/stack/src/nats-users'));

  it('is what compose.yaml starts NATS with', () => {
    expect(compose.services['nats']?.volumes).toContain('./nats.conf:/etc/nats/nats.conf:ro');
  });

  it('takes each password from a variable that compose.yaml sets', () => {
    const variables = users.map(({ password }) => password.replace(/^\$/, ''));
    expect(Object.keys(compose.services['nats']?.environment ?? {}).sort()).toEqual(variables.sort());
  });

  it('permits each service exactly what the embedded stack permits it', () => {
    const declared = defaultServices({ repositoryRoot: workspaceRoot, model: null, scenario: null });
    const embedded = natsUsers(declared, Object.fromEntries(declared.map(({ name }) => [name, 'password'])));
    const configured = users.map(({ user, permissions }) => ({ user, ...permissions }));
    expect(embedded.map(permissionsOf).sort(byUser)).toEqual(configured.map(permissionsOf).sort(byUser));
  });
});

type Permissions = Pick<NatsUser, 'user' | 'publish' | 'subscribe'>;

/** A user's permissions, in an order of their own. */
const permissionsOf = ({ user, publish, subscribe }: Permissions): Permissions => ({
  user,
  publish: [...publish].sort(),
  subscribe: [...subscribe].sort(),
});

const byUser = (a: Permissions, b: Permissions): number => (a.user < b.user ? -1 : 1);
