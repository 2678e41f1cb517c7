import { VERBS, VERB_NAMES, type VerbName } from '@inquest/contracts-agent';
import { parseDto } from '@inquest/config';
import { verbTools } from './verb-tools';

interface Property {
  readonly type: string;
  readonly description: string;
  readonly default?: unknown;
  readonly pattern?: string;
}

const tools = new Map(verbTools().map((tool) => [tool.name, tool]));
const parametersOf = (verb: string) =>
  tools.get(verb)?.parameters as {
    readonly type: string;
    readonly properties: Readonly<Record<string, Property>>;
    readonly required: readonly string[];
    readonly additionalProperties: boolean;
  };

/** The least that a model must send for each verb. */
const SMALLEST: Readonly<Record<VerbName, Record<string, unknown>>> = {
  plan: { plan: 'look' },
  run: { command: 'true' },
  read_file: { path: '/etc/hostname' },
  write_file: { path: '/tmp/x', content: '' },
  list_files: {},
  screenshot: {},
  check_internet: {},
  git_commit: { message: 'x' },
  ask: { question: 'x' },
  done: { summary: 'x' },
};

describe('verbTools', () => {
  it('offers every verb of the table, and no other', () => {
    expect([...tools.keys()]).toEqual(VERB_NAMES);
  });

  it.each(VERB_NAMES)('describes %s in plain JSON Schema that every endpoint takes', (verb) => {
    const { type, properties, additionalProperties } = parametersOf(verb);
    expect({ type, additionalProperties }).toEqual({ type: 'object', additionalProperties: false });
    for (const property of Object.values(properties)) {
      expect(property.type).toMatch(/^(string|integer|array)$/);
      expect(property.description).not.toBe('');
      expect(property.default).not.toBeNull();
    }
    expect(JSON.stringify(properties)).not.toMatch(/\$ref|nullable|oneOf|anyOf/);
  });

  it.each(VERB_NAMES)('requires of %s just what the check requires', (verb) => {
    const { required } = parametersOf(verb);
    const smallest = SMALLEST[verb];
    expect([...required].sort()).toEqual(Object.keys(smallest).sort());
    expect(() => parseDto<object>(VERBS[verb].arguments, smallest)).not.toThrow();
    for (const name of required) {
      const { [name]: _left, ...rest } = smallest;
      expect(() => parseDto<object>(VERBS[verb].arguments, rest)).toThrow(
        expect.objectContaining({ code: 'INPUT_INVALID' }),
      );
    }
  });

  it.each(VERB_NAMES)('names the defaults of %s that the check fills in', (verb) => {
    const filled = parseDto<object>(VERBS[verb].arguments, SMALLEST[verb]);
    for (const [name, property] of Object.entries(parametersOf(verb).properties)) {
      if (property.default !== undefined) expect(Reflect.get(filled, name)).toEqual(property.default);
    }
  });

  it('gives patterns that accept what the check accepts and refuse what it refuses', () => {
    const { pattern = '' } = parametersOf('read_file').properties['path'] ?? {};
    expect(new RegExp(pattern).test('/mnt/project/a b')).toBe(true);
    expect(new RegExp(pattern).test('relative')).toBe(false);
    expect(pattern).not.toContain('\\/');
    expect(pattern).not.toContain('\\0');
  });

  it('takes null for an argument that may be left out', () => {
    expect(parseDto(VERBS.run.arguments, { command: 'true', cwd: null })).toMatchObject({
      cwd: null,
      timeoutMs: 120_000,
    });
  });
});
