import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { TAGS } from '../lint-rules/boundaries.mjs';
import { listProjects, workspaceRoot } from '../workspace/projects.mjs';
import { importsOf, parseImports, sourceFiles } from '../workspace/source-imports.mjs';

interface Manifest {
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}

const projects = listProjects().map(({ name, root, tags, manifest }) => ({
  name,
  root,
  tags,
  manifest,
  source: path.join(workspaceRoot, root, 'src'),
}));
const byRoot = projects.map((project) => [project.root, project] as const);
const EXACT_VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$/;

describe('the workspace', () => {
  it('pins every dependency to one exact version', () => {
    const root = JSON.parse(readFileSync(path.join(workspaceRoot, 'package.json'), 'utf8')) as Manifest;
    const all = { ...root.dependencies, ...root.devDependencies, ...root.optionalDependencies };
    const loose = Object.entries(all).filter(([, version]) => !EXACT_VERSION.test(version));
    expect(Object.keys(all).length).toBeGreaterThan(20);
    expect(loose).toEqual([]);
  });

  it('holds third-party dependencies in the root only', () => {
    const foreign = projects.flatMap(({ root, manifest }) =>
      Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
        .filter(([name, version]) => !name.startsWith('@inquest/') || version !== '*')
        .map(([name]) => `${root}: ${name}`),
    );
    expect(foreign).toEqual([]);
  });
});

describe.each(byRoot)('%s', (root, { name, tags, source }) => {
  it('has exactly one tag of each kind, and a name that its folder gives', () => {
    for (const [kind, values] of Object.entries(TAGS)) {
      const own = tags.filter((tag: string) => tag.startsWith(`${kind}:`));
      expect(values.map((value: string) => `${kind}:${value}`)).toContain(own[0]);
      expect(own).toHaveLength(1);
    }
    expect(tags).toHaveLength(Object.keys(TAGS).length);
    const prefix = root.startsWith('libs/contracts/') ? 'contracts-' : '';
    expect(name).toBe(`@inquest/${prefix}${path.basename(root)}`);
  });

  it('has no circle of imports between its files', () => {
    expect(findCycle(sourceFiles(source))).toBeNull();
  });
});

describe('parseImports', () => {
  it('reads every form of static import', () => {
    const source = [
      "import a from './a';",
      "import type { B } from './b';",
      "export {\n  c,\n  type C,\n} from './c';",
      "import './d';",
      "const text = `import x from './x'`;",
    ].join('\n');
    expect(parseImports(source)).toEqual([
      { specifier: './a', isTypeOnly: false },
      { specifier: './b', isTypeOnly: true },
      { specifier: './c', isTypeOnly: false },
      { specifier: './d', isTypeOnly: false },
    ]);
  });
});

/** The files of one circle of run-time imports, first one repeated at the end; null when there is none. */
function findCycle(files: readonly string[]): string[] | null {
  const done = new Set<string>();
  const visit = (file: string, trail: readonly string[]): string[] | null => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file].map((at) => path.basename(at));
    if (done.has(file)) return null;
    for (const target of localImports(file)) {
      const cycle = visit(target, [...trail, file]);
      if (cycle !== null) return cycle;
    }
    done.add(file);
    return null;
  };
  for (const file of files) {
    const cycle = visit(file, []);
    if (cycle !== null) return cycle;
  }
  return null;
}

const localImports = (file: string): string[] =>
  importsOf(file)
    .filter(({ specifier, isTypeOnly }) => !isTypeOnly && specifier.startsWith('.'))
    .map(({ specifier }) => path.resolve(path.dirname(file), specifier))
    .map((target) => (existsSync(`${target}.ts`) ? `${target}.ts` : path.join(target, 'index.ts')))
    .filter((target) => existsSync(target));
