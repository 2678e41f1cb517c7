import { isDomainError } from '@inquest/kernel';

import { parseScratchRules } from './scratch-rules';

function refusalOf(data: unknown): { readonly code: string; readonly message: string } {
  try {
    parseScratchRules(data);
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
