import { isDomainError, type DomainError } from '@inquest/kernel';

import { MAX_SCRATCH_RULES_BYTES, parseScratchRules, readScratchRules } from './scratch-rules';

function refusalOf(data: unknown, read: (data: unknown) => unknown = parseScratchRules): DomainError {
  try {
    read(data);
  } catch (e) {
    if (isDomainError(e)) return e;
    throw e;
  }
  throw new Error('the rules were taken');
}

describe('parseScratchRules', () => {
  it.each([null, undefined, {}, { keep: null }, { keep: [], hold: [] }])('takes %j as no rules', (data) => {
    expect(parseScratchRules(data)).toEqual({ keep: [], hold: [] });
  });

  it('takes globs and globs with a reason', () => {
    const rules = parseScratchRules({
      keep: ['logs/reference.log'],
      hold: [{ pattern: '*.map', why: 'Made by the linker.' }],
    });
    expect(rules).toEqual({
      keep: [{ pattern: 'logs/reference.log', why: null }],
      hold: [{ pattern: '*.map', why: 'Made by the linker.' }],
    });
  });

  it('tells every problem at once', () => {
    const { code, message } = refusalOf({
      keep: ['/etc/passwd', '../x', 7, ''],
      hold: [{ pattern: '!a' }, { pattern: 'a', reason: 'x' }, { pattern: 'b', why: 3 }, { pattern: '[ab]' }],
      kepe: [],
    });
    expect(code).toBe('SCRATCH_RULES_INVALID');
    for (const place of [
      'the document has the unknown key "kepe"',
      'keep[0].pattern must be relative',
      'keep[1].pattern has an empty, `.` or `..` name',
      'keep[2] must be a glob or a mapping',
      'keep[3].pattern must be a text that is not empty',
      'hold[0].pattern cannot be negated',
      'hold[1] has the unknown key "reason"',
      'hold[2].why must be a text',
      'hold[3].pattern may use the wildcards',
    ]) {
      expect(message).toContain(place);
    }
  });

  it.each(['text', 7, [], true])('refuses the document %j', (data) => {
    expect(refusalOf(data).code).toBe('SCRATCH_RULES_INVALID');
  });

  it('bounds the number of rules, the length of patterns and its own message', () => {
    expect(refusalOf({ keep: Array.from({ length: 501 }, () => 'a') }).message).toContain('at most 500');
    expect(refusalOf({ keep: ['a'.repeat(513)] }).message).toContain('longer than 512');
    expect(refusalOf({ keep: Array.from({ length: 500 }, () => '!') }).message).toContain('and 480 more');
  });
});

describe('readScratchRules', () => {
  const refusal = (text: string) => refusalOf(text, () => readScratchRules(text));

  it('reads YAML, and an empty file as no rules', () => {
    expect(readScratchRules('keep: ["a.log"]\n')).toEqual({ keep: [{ pattern: 'a.log', why: null }], hold: [] });
    expect(readScratchRules('# nothing yet\n')).toEqual({ keep: [], hold: [] });
  });

  it.each([
    ['that is broken', 'keep: ["a', 'line 1'],
    ['with a key twice', 'keep: []\nkeep: []\n', 'unique'],
    ['of two documents', 'keep: []\n---\nhold: []\n', 'documents'],
    ['with aliases', 'keep: &a ["x"]\nhold: *a\n', 'aliases'],
    [
      'that doubles itself',
      `a: &a [x]\n${Array.from({ length: 30 }, (_, i) => `b${i}: &b${i} [*a, *a]`).join('\n')}`,
      'aliases',
    ],
    ['that nests without end', `${'['.repeat(60_000)}`, 'not valid'],
    ['with a tag of its own', 'keep: !!js/function "x"\n', 'keep'],
  ])('refuses YAML %s, and says in which file', (_, text, words) => {
    const { code, message, remediation } = refusal(text);
    expect({ code, message }).toEqual({ code: 'SCRATCH_RULES_INVALID', message: expect.stringContaining(words) });
    expect(message).toContain('.inquest/scratch.yaml');
    expect(remediation).toContain('default rules');
  });

  it('reads a file of the largest size, counted in bytes, and no larger one', () => {
    const filled = `# ${'é'.repeat((MAX_SCRATCH_RULES_BYTES - 2) / 2)}`;
    expect(readScratchRules(filled)).toEqual({ keep: [], hold: [] });
    expect(refusal(`${filled}x`)).toMatchObject({
      code: 'SCRATCH_RULES_TOO_LARGE',
      message: '.inquest/scratch.yaml has 65537 bytes, and at most 65536 are read.',
      details: { sizeBytes: 65_537, maxBytes: 65_536 },
    });
  });
});
