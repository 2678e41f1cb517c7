import { filterTree, type FilterContext, type FilterResult } from './filter-tree';
import { DEFAULT_RULES } from './rules';
import { parseScratchRules } from './scratch-rules';
import type { TreeEntry } from './tree';

const NO_CONTEXT: FilterContext = { projectRules: null, forceInclude: [] };

const file = (path: string, content = '', isTracked = false): TreeEntry => {
  const firstBytes = new TextEncoder().encode(content);
  return { path, kind: 'file', sizeBytes: firstBytes.length, firstBytes, isTracked };
};

const tracked = (path: string): TreeEntry => file(path, '', true);

const filter = (entries: readonly TreeEntry[], context: Partial<FilterContext> = {}): FilterResult =>
  filterTree(entries, { ...NO_CONTEXT, ...context });

const ruleFor = (entry: TreeEntry, others: readonly TreeEntry[] = []): string | undefined =>
  filter([entry, ...others]).held.find(({ path }) => path === entry.path)?.rule;

describe('filterTree', () => {
  it('says of every held path which rule holds it and why', () => {
    const { kept, held } = filter([file('b.py'), file('a.log'), tracked('c.log.1')]);
    expect(kept).toEqual(['b.py', 'c.log.1']);
    expect(held).toEqual([{ path: 'a.log', rule: 'dropping/log', why: 'A log of a program that ran.' }]);
  });

  it('never holds a tracked file, whatever its name, place and content', () => {
    const paths = ['.env', 'node_modules/x.js', 'a.log', 'tmp/x', 'id_rsa', '.DS_Store', 'NOTES.md'];
    const result = filter(paths.map(tracked), {
      sessionFiles: paths,
      projectRules: parseScratchRules({ hold: ['**'] }),
    });
    expect(result.held).toEqual([]);
  });

  it('holds directories and links by name like files', () => {
    const dir: TreeEntry = { path: 'node_modules', kind: 'dir', sizeBytes: 0, isTracked: false };
    const link: TreeEntry = { path: 'web/node_modules', kind: 'link', sizeBytes: 9, isTracked: false };
    expect(filter([dir, link]).held.map(({ path }) => path)).toEqual(['node_modules', 'web/node_modules']);
  });

  it.each(['/etc/passwd', '../x', 'a/../b', 'a//b', 'a/./b', 'a\0b', '', 'x'.repeat(4097)])(
    'holds the path %j',
    (path) => {
      expect(ruleFor(file(path))).toBe('path/invalid');
    },
  );

  it('gives each rule an id that fits a report, and a reason', () => {
    for (const { id, why } of DEFAULT_RULES) {
      expect(id).toMatch(/^[a-z]+\/[a-z-]{1,100}$/);
      expect(why).toMatch(/^[A-Z].*\.$/);
    }
  });
});

describe('the conventions of the project', () => {
  it('keeps a test beside tracked tests of the same shape', () => {
    expect(ruleFor(file('test_b.py'))).toBe('throwaway/script');
    expect(ruleFor(file('test_b.py'), [tracked('test_a.py')])).toBeUndefined();
    expect(ruleFor(file('test_b.py'), [tracked('lib/test_a.py')])).toBe('throwaway/script');
    expect(ruleFor(file('debug_b.py'), [tracked('test_a.py')])).toBe('throwaway/script');
  });

  it('does not take an untracked file for a convention', () => {
    expect(ruleFor(file('test_b.py'), [file('test_a.py')])).toBe('throwaway/script');
  });

  it('keeps new files of a directory that the project uses, and holds those of one it only reserves', () => {
    expect(ruleFor(file('tmp/b'), [tracked('tmp/a')])).toBeUndefined();
    expect(ruleFor(file('tmp/b'), [tracked('tmp/.gitkeep')])).toBe('directory/scratch');
  });

  it('takes a directory with a manifest for a project root, but not a tree of tests', () => {
    expect(ruleFor(file('api/test_x.py'))).toBeUndefined();
    expect(ruleFor(file('api/test_x.py'), [tracked('api/pyproject.toml')])).toBe('throwaway/script');
    expect(ruleFor(file('tests/test_x.py'), [tracked('tests/requirements.txt')])).toBeUndefined();
  });

  it('keeps every kind of file as a fixture, but no secret content', () => {
    expect(ruleFor(file('tests/fixtures/a.log'))).toBeUndefined();
    expect(ruleFor(file('tests/fixtures/a.orig'))).toBeUndefined();
    expect(ruleFor(file('tests/fixtures/key', `AKIA${'3XQW7ZRT5PLK2MNB'}`))).toBe('secret/aws-key');
  });
});

describe('what stands around a file', () => {
  it.each(['thesis.toc', 'thesis.out', 'thesis-blx.bib', 'THESIS.AUX'])(
    'tells what LaTeX writes by the document beside it: %s',
    (name) => {
      const stem = name.startsWith('T') ? 'THESIS' : 'thesis';
      expect(ruleFor(file(name), [tracked(`${stem}.tex`)])).toBe('dropping/typesetting');
      expect(ruleFor(file(name), [tracked('other.tex'), tracked(`chapters/${stem}.tex`)])).toBeUndefined();
      expect(ruleFor(file(name), [tracked(`${stem}.tex`), tracked(`other${name.slice(stem.length)}`)])).toBeUndefined();
    },
  );

  it('keeps the table of contents of an add-on, and a file whose name is an ending', () => {
    expect(ruleFor(file('Addon.toc'), [tracked('Addon.lua')])).toBeUndefined();
    expect(ruleFor(file('a/.aux'), [tracked('a/.tex')])).toBeUndefined();
  });

  it.each(['tests/data/a.log', 'examples/data/a.log', 'docs/examples/a.log', 'test/fixtures/files/a.log'])(
    'keeps the sample %s',
    (path) => expect(ruleFor(file(path))).toBeUndefined(),
  );

  it.each(['data/a.log', 'examples/a.log', 'src/files/a.log'])('holds the log %s', (path) =>
    expect(ruleFor(file(path))).toBe('dropping/log'),
  );

  it('keeps the placeholder of a directory for scratch, and nothing else in it', () => {
    expect(ruleFor(file('tmp/.gitkeep'))).toBeUndefined();
    for (const path of ['tmp/x', 'tmp/sub/.gitkeep', 'node_modules/a/.keep']) expect(ruleFor(file(path))).toBeDefined();
  });

  it('takes the directories of a tool for scratch only where its project file stands', () => {
    const unity = tracked('game/ProjectSettings/ProjectVersion.txt');
    expect(ruleFor(file('game/Library/x'), [unity])).toBe('directory/build-output');
    for (const path of ['Library/x', 'game/Assets/Library/x']) expect(ruleFor(file(path), [unity])).toBeUndefined();
    expect(ruleFor(file('site/index.html'))).toBeUndefined();
    expect(ruleFor(file('site/index.html'), [tracked('mkdocs.yml')])).toBe('directory/build-output');
  });
});

describe('what a commit and a project can change', () => {
  it('keeps what is forced by path, by glob and by directory', () => {
    const { kept } = filter([file('a.log'), file('b.log'), file('tmp/c'), file('d.tmp')], {
      forceInclude: ['a.log', '*.tmp', 'tmp'],
    });
    expect(kept).toEqual(['a.log', 'd.tmp', 'tmp/c']);
  });

  it('lets a secret through only by its exact path', () => {
    expect(filter([file('.env')], { forceInclude: ['**'] }).held).toMatchObject([{ rule: 'secret/environment-file' }]);
    expect(filter([file('tmp/.env')], { forceInclude: ['tmp/'] }).held).toMatchObject([
      { rule: 'secret/environment-file' },
    ]);
    expect(filter([file('.env')], { forceInclude: ['.env'] }).kept).toEqual(['.env']);
  });

  it('holds what the session wrote for itself', () => {
    const { held } = filter([file('final-view.png'), file('logo.png')], { sessionFiles: ['final-view.png'] });
    expect(held).toMatchObject([{ path: 'final-view.png', rule: 'session/file' }]);
  });

  it("lets the project's keep win over its hold, and its hold over the defaults", () => {
    const projectRules = parseScratchRules({
      keep: ['ref.log'],
      hold: [{ pattern: '*.log', why: 'Logs are big.' }, '*.csv'],
    });
    const { kept, held } = filter([file('ref.log'), file('x.log'), file('y.csv')], { projectRules });
    expect(kept).toEqual(['ref.log']);
    expect(held).toEqual([
      { path: 'x.log', rule: 'project/hold', why: 'Logs are big.' },
      { path: 'y.csv', rule: 'project/hold', why: "The project's rules hold `*.csv`." },
    ]);
  });
});

describe('secrets by the shape of their content', () => {
  const random = (length: number): string =>
    'Kd8sLq2WmZx7RtYp4VnBc3HjQw9eGf6TzUa5XoJi1MbNvCrEhPyDuSlAkFgOtI0w'.slice(0, length);

  it.each([
    ['secret/private-key', `-----BEGIN OPENSSH ${'PRIVATE'} KEY-----\n${random(64)}\n`],
    ['secret/private-key', `{"private_key": "-----BEGIN ${'PRIVATE'} KEY-----\\n${random(64)}\\n"}`],
    ['secret/aws-key', `key: AKIA${'3XQW7ZRT5PLK2MNB'}`],
    ['secret/github-token', `ghp_${random(36)}`],
    ['secret/github-token', `github_pat_${random(60)}`],
    ['secret/gitlab-token', `glpat-${random(20)}`],
    ['secret/slack-token', `xoxb-${random(40)}`],
    ['secret/slack-token', `https://hooks.slack.com/services/T0${'4AB7CD'}/B0${'9XY2ZW'}/${random(24)}`],
    ['secret/openai-key', `sk-proj-${random(40)}`],
    ['secret/openai-key', `sk-${random(48)}`],
    ['secret/anthropic-key', `sk-ant-api03-${random(60)}`],
    ['secret/google-key', `AIza${random(35)}`],
    ['secret/stripe-key', `sk_live_${random(24)}`],
    ['secret/registry-token', `npm_${random(36)}`],
  ])('holds %s', (rule, content) => {
    expect(ruleFor(file('src/config.ts', `first line\n${content}\nlast line\n`))).toBe(rule);
  });

  it('holds a key file of PuTTY', () => {
    expect(ruleFor(file('login', 'PuTTY-User-Key-File-2: ssh-rsa\n'))).toBe('secret/private-key');
  });

  it('sees them in UTF-16 text', () => {
    const firstBytes = Uint8Array.from([...`AKIA${'3XQW7ZRT5PLK2MNB'}`].flatMap((c) => [c.charCodeAt(0), 0]));
    expect(ruleFor({ ...file('a.txt'), firstBytes })).toBe('secret/aws-key');
  });

  it.each([
    'AKIAIOSFODNN7EXAMPLE',
    `ghp_${'x'.repeat(36)}`,
    'sk-your-key-goes-here-and-is-long-enough-for-the-pattern',
    '/AKIA[0-9A-Z]{16}/',
    "text.includes('-----BEGIN RSA PRIVATE KEY-----')",
    '-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n',
    `sha512-${random(64)}`,
  ])('keeps %j', (content) => {
    expect(ruleFor(file('src/config.ts', content))).toBeUndefined();
  });

  it('tells a core dump and a compiled program by their headers, and keeps a program that is a fixture', () => {
    const elf = (type: number): string => `\x7fELF\x02\x01\x01${'\0'.repeat(9)}${String.fromCharCode(type)}\0\x3e\0`;
    expect(ruleFor(file('dump', elf(4)))).toBe('dropping/crash-dump');
    for (const type of [1, 2, 3]) expect(ruleFor(file('tool', elf(type)))).toBe('dropping/compiled');
    expect(ruleFor(file('tests/fixtures/hello', elf(2)))).toBeUndefined();
    expect(ruleFor(file('tool', elf(0)))).toBeUndefined();
  });
});
