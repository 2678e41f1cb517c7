import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { parse } from 'yaml';
import { listProjects, workspaceRoot } from '../workspace/projects.mjs';
import { importsOf, sourceFiles } from '../workspace/source-imports.mjs';

interface ComposeService {
  readonly image?: string;
  readonly build?: object;
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly volumes?: readonly string[];
  readonly healthcheck?: object;
  readonly ports?: readonly string[];
}
interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

/** What the compose specification (compose-spec.io) calls these; only what our files use, so that a typing error shows. */
const COMPOSE_KEYS = ['name', 'services', 'volumes'];
const SERVICE_KEYS = [
  ...[
    'build',
    'command',
    'depends_on',
    'devices',
    'environment',
    'healthcheck',
    'image',
    'ports',
    'restart',
    'volumes',
  ],
];
const CONDITIONS = ['service_started', 'service_healthy', 'service_completed_successfully'];

const read = (...parts: readonly string[]): string => readFileSync(path.join(workspaceRoot, ...parts), 'utf8');
const services = readdirSync(path.join(workspaceRoot, 'docker'))
  .filter((name) => name.endsWith('.Dockerfile'))
  .map((name) => path.basename(name, '.Dockerfile'));
const composeFiles = ['compose.yaml', 'compose.kvm.yaml'];
const compose = parse(read('docker/compose.yaml'), { merge: true }) as Compose;

/** One instruction per line: continuations joined, comments left out. */
const instructionsOf = (service: string): string[] =>
  read('docker', `${service}.Dockerfile`)
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line !== '');

/** What the build stage copies from the repository. */
function copiedToBuild(service: string): string[] {
  const lines = instructionsOf(service);
  const end = lines.findIndex((line, at) => at > 0 && line.startsWith('FROM '));
  const copies = lines.slice(0, end).filter((line) => line.startsWith('COPY '));
  return copies.flatMap((line) => line.split(' ').slice(1, -1));
}

/** `.dockerignore` in the forms that it uses: names, `*` within a name, and `**` for any directories. */
const ignored = read('.dockerignore')
  .split('\n')
  .filter((line) => line !== '')
  .map((pattern) => {
    const source = pattern
      .split('**/')
      .map((part) => part.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*'))
      .join('(?:.+/)?');
    return new RegExp(`^${source}(?:/|$)`);
  });
const isInContext = (file: string): boolean => !ignored.some((pattern) => pattern.test(file));

/** The configuration files of a project and of all that it references. */
function projectConfigs(config: string, seen = new Set<string>()): Set<string> {
  if (seen.has(config)) return seen;
  seen.add(config);
  const { references = [] } = ts.readConfigFile(config, ts.sys.readFile).config as {
    references?: readonly { readonly path: string }[];
  };
  for (const { path: to } of references) {
    projectConfigs(path.join(path.resolve(path.dirname(config), to), 'tsconfig.json'), seen);
  }
  return seen;
}

/** Everything that `tsc -b apps/<service>` reads from the repository, relative to it. */
function compiledFiles(service: string): string[] {
  const configs = [...projectConfigs(path.join(workspaceRoot, 'apps', service, 'tsconfig.json'))];
  const files = configs.flatMap((config) => {
    const { config: content } = ts.readConfigFile(config, ts.sys.readFile) as { config: { extends?: string } };
    const parsed = ts.parseJsonConfigFileContent(content, ts.sys, path.dirname(config));
    const base = content.extends === undefined ? [] : [path.resolve(path.dirname(config), content.extends)];
    return [config, path.join(path.dirname(config), 'package.json'), ...base, ...parsed.fileNames];
  });
  return files.map((file) => path.relative(workspaceRoot, file));
}

const projects = new Map(listProjects().map(({ name, root }) => [name, root]));
const isTesting = (file: string): boolean => file.split(path.sep).includes('testing');

/** Third-party packages that a service loads, itself or through our libraries. */
function loadedPackages(service: string): Set<string> {
  const packages = new Set<string>();
  const seen = new Set<string>();
  const visit = (root: string): void => {
    if (seen.has(root)) return;
    seen.add(root);
    for (const file of sourceFiles(path.join(workspaceRoot, root, 'src')).filter((name) => !isTesting(name))) {
      for (const { specifier, isTypeOnly } of importsOf(file)) {
        if (isTypeOnly || specifier.startsWith('.') || specifier.startsWith('node:')) continue;
        const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
        const own = projects.get(name);
        if (own === undefined) packages.add(name);
        else visit(own);
      }
    }
  };
  visit(`apps/${service}`);
  return packages;
}

describe.each(services)('the build stage of docker/%s.Dockerfile', (service) => {
  it('has every file that the compiler reads, though .dockerignore holds some back', () => {
    const copied = copiedToBuild(service);
    const isCopied = (file: string): boolean => copied.some((from) => file === from || file.startsWith(`${from}/`));
    const files = compiledFiles(service);
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((file) => !isCopied(file) || !isInContext(file))).toEqual([]);
  });

  it('has what npm installs from: the manifest of every project of the workspace', () => {
    const copied = copiedToBuild(service);
    const manifests = [
      'package.json',
      'package-lock.json',
      '.npmrc',
      ...[...projects.values()].map((root) => `${root}/package.json`),
    ];
    const missing = manifests.filter((file) => !copied.some((from) => file === from || file.startsWith(`${from}/`)));
    expect(missing).toEqual([]);
    expect(manifests.filter((file) => !isInContext(file))).toEqual([]);
  });

  it('runs only programs that the lock file pins', () => {
    const names = [
      ...instructionsOf(service)
        .join('\n')
        .matchAll(/npx --no-install (\S+)/g),
    ].map(([, name]) => name ?? '');
    expect(names).toContain('tsc');
    const missing = names.filter((name) => !existsSync(path.join(workspaceRoot, 'node_modules/.bin', name)));
    expect(missing).toEqual([]);
  });

  it('keeps every package that the service loads: none of them is a development dependency', () => {
    const { dependencies } = JSON.parse(read('package.json')) as { readonly dependencies: Record<string, string> };
    const loaded = loadedPackages(service);
    expect(loaded).toContain('@nestjs/common');
    expect([...loaded].filter((name) => !(name in dependencies))).toEqual([]);
  });

  it('listens where the health check, the exposed port and compose.yaml look for it', () => {
    const text = instructionsOf(service).join('\n');
    const [, port = ''] = /INQUEST_HTTP_PORT=(\d+)/.exec(text) ?? [];
    expect(text).toMatch(new RegExp(`^EXPOSE ${port}$`, 'm'));
    expect(text).toContain(`http://127.0.0.1:${port}/healthz`);
    expect(text).toContain('INQUEST_HTTP_HOST=0.0.0.0');
    const inside = (compose.services[service]?.ports ?? []).map((mapping) => mapping.split(':').at(-1));
    expect(inside.filter((mapped) => mapped !== port)).toEqual([]);
  });

  it('has an address under which the others reach its byte streams, where it hands any out', () => {
    const config = path.join('apps', service, 'src', `${service}.config.ts`);
    const handsOut = existsSync(path.join(workspaceRoot, config)) && read(config).includes("'INQUEST_ADVERTISED_URL'");
    const { environment = {} } = compose.services[service] ?? {};
    expect(environment['INQUEST_ADVERTISED_URL']).toBe(handsOut ? `http://${service}:8080` : undefined);
    if (handsOut) expect(environment['INQUEST_HTTP_ALLOWED_HOSTS']).toBe(service);
  });
});

describe.each(composeFiles)('docker/%s', (file) => {
  const content = parse(read('docker', file), { merge: true }) as Compose;
  const entries = Object.entries(content.services);

  it('is in the words of the compose specification', () => {
    const own = Object.keys(content).filter((key) => !key.startsWith('x-'));
    expect(own.filter((key) => !COMPOSE_KEYS.includes(key))).toEqual([]);
    const unknown = entries.flatMap(([, service]) => Object.keys(service).filter((key) => !SERVICE_KEYS.includes(key)));
    expect(unknown).toEqual([]);
  });

  it('gives variables as text: a bare number or truth value would be something else to some engines', () => {
    const values = entries.flatMap(([, { environment = {} }]) => Object.values(environment));
    expect(values.filter((value) => typeof value !== 'string')).toEqual([]);
  });

  it('waits only for what can be waited for', () => {
    const waits = entries.flatMap(([, { depends_on: on = {} }]) => Object.entries(on));
    expect(waits.filter(([, { condition }]) => !CONDITIONS.includes(condition))).toEqual([]);
    const healthy = waits.filter(([, { condition }]) => condition === 'service_healthy').map(([name]) => name);
    const blind = healthy.filter((name) => content.services[name]?.healthcheck === undefined);
    expect(blind).toEqual([]);
  });
});

describe('docker/compose.yaml', () => {
  it('mounts every volume that it declares, and files that exist', () => {
    const sources = Object.values(compose.services).flatMap(({ volumes = [] }) =>
      volumes.map((at) => at.split(':')[0] ?? ''),
    );
    expect(Object.keys(compose.volumes).filter((name) => !sources.includes(name))).toEqual([]);
    const files = sources.filter((source) => source.startsWith('.'));
    expect(files.filter((source) => !existsSync(path.join(workspaceRoot, 'docker', source)))).toEqual([]);
  });

  it('takes what it does not build at a version', () => {
    const images = Object.values(compose.services).flatMap(({ image }) => (image === undefined ? [] : [image]));
    expect(images.length).toBeGreaterThan(0);
    expect(images.filter((image) => !/:\d[\w.-]*$/.test(image))).toEqual([]);
  });

  it('keeps the messages of NATS on its volume', () => {
    const [, directory = ''] = /store_dir: "([^"]+)"/.exec(read('docker/nats.conf')) ?? [];
    expect(compose.services['nats']?.volumes).toContain(`nats:${directory}`);
  });
});
